#ifndef RECORDS_H
#define RECORDS_H

#include <stdint.h>

/// The parameters of a set of records.
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

/// The number of teams that the records refer to, and the name of one of them.
enum { record_teams = 1000 };
void record_team(int64_t number, char name[16]);

/// Makes one record of a generation: 0 as first listed, greater after a change.
void record_make(struct record_recipe recipe, int64_t number, int64_t generation, struct record *record);

/// The number of the nth record of a delta. The numbers are distinct and spread.
int64_t record_of_delta(struct record_recipe recipe, int64_t place, int64_t generation);

/// The most records that an app edits, and the number of the record of its nth edit. The numbers are
/// distinct and spread.
enum { record_edit_limit = 10000 };
int64_t record_edits(struct record_recipe recipe);
int64_t record_of_edit(struct record_recipe recipe, int64_t place);

/// The hardware address of a record, in no order. A fifth of the records share their address with
/// another one.
void record_mac(struct record_recipe recipe, int64_t number, char mac[16]);

/// The number of records whose address an earlier record has.
int64_t record_duplicates(struct record_recipe recipe);

/// Makes one record with its address as its first member. Of two with one address, sometimes the first
/// is the later write and sometimes the second.
void record_make_with_mac(struct record_recipe recipe, int64_t number, struct record *record);

/// The number of venues, so that each has about 1,000 records.
int64_t record_venues(struct record_recipe recipe);

/// The resources that this process used so far: peak memory in KiB, and processor time in seconds.
long process_peak(void);
double process_time(void);

/// Starts or stops callgrind's count, if the process runs under callgrind.
void process_count(int begins);

#endif
