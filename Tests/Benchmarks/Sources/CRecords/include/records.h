#ifndef RECORDS_H
#define RECORDS_H

#include <stdint.h>

/// How a set of records is made.
struct record_recipe {
  int64_t count;
  /// Whether ids are random, rather than in the order of time.
  int has_random_ids;
};

enum { record_payload_limit = 512 };

/// One record: its parts, and its payload of 12 fields and about 350 bytes.
struct record {
  char id[40];
  char home[16];
  char away[16];
  int64_t modified_at;
  int64_t venue;
  int length;
  char payload[record_payload_limit];
};

/// How many teams the references of the records name, and how one of them is called.
enum { record_teams = 1000 };
void record_team(int64_t number, char name[16]);

/// Makes one record, as it is in some generation: 0 as first listed, greater after a change.
void record_make(struct record_recipe recipe, int64_t number, int64_t generation, struct record *record);

/// The number of the record that is the nth one of a delta: all different, and spread.
int64_t record_of_delta(struct record_recipe recipe, int64_t place, int64_t generation);

/// How many records an app edits, at most, and the number of the record that its nth edit is of: all different, and spread.
enum { record_edit_limit = 10000 };
int64_t record_edits(struct record_recipe recipe);
int64_t record_of_edit(struct record_recipe recipe, int64_t place);

/// The hardware address of a record, in no order: a fifth of the records have one that another record has, too.
void record_mac(struct record_recipe recipe, int64_t number, char mac[16]);

/// How many records have an address that another one before them has.
int64_t record_duplicates(struct record_recipe recipe);

/// Makes one record with its address as its first member. Of two that share one, now the one is the later write and now the other.
void record_make_with_mac(struct record_recipe recipe, int64_t number, struct record *record);

/// How many venues there are, so that each has about 1,000 records.
int64_t record_venues(struct record_recipe recipe);

/// What this process used so far: the greatest memory in KiB, and the processors' time in seconds.
long process_peak(void);
double process_time(void);

/// Begins or ends what callgrind counts, where it is what runs this.
void process_count(int begins);

#endif
