#include "records.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

/// The output function of SplitMix64: a bijection, so different numbers stay different.
static uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

int64_t record_venues(struct record_recipe recipe) {
  int64_t venues = recipe.count / 1000;
  return venues > 0 ? venues : 1;
}

void record_team(int64_t number, char name[16]) {
  snprintf(name, 16, "team-%04lld", (long long)number);
}

int64_t record_of_delta(struct record_recipe recipe, int64_t place, int64_t generation) {
  // A stride of 99 or 101 steps through a hundredth of the records without repeating one.
  return (place * 100 + (int64_t)(mixed(place + generation) % 100)) % recipe.count;
}

int64_t record_edits(struct record_recipe recipe) {
  return recipe.count < record_edit_limit ? recipe.count : record_edit_limit;
}

int64_t record_of_edit(struct record_recipe recipe, int64_t place) {
  return place * recipe.count / record_edits(recipe);
}

void record_make(struct record_recipe recipe, int64_t number, int64_t generation, struct record *record) {
  static const char note[] =
      "Gates open two hours early; bags are searched, and the north entrance is closed until further notice";
  uint64_t a = mixed(number), b = mixed(number + 0x5bd1e995);
  if (recipe.has_random_ids) {
    snprintf(record->id, sizeof record->id, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)(a >> 4) & 0xfff, (unsigned)b & 0xfff,
             (unsigned long long)(b >> 16));
  } else {
    uint64_t time = 1767225600000u + number;
    snprintf(record->id, sizeof record->id, "%08x-%04x-7%03x-8%03x-%012llx", (unsigned)(time >> 16),
             (unsigned)time & 0xffff, (unsigned)a & 0xfff, (unsigned)b & 0xfff, (unsigned long long)(b >> 16));
  }
  record_team(a % record_teams, record->home);
  record_team(b % record_teams, record->away);
  record->modified_at = 1767225600000 + generation * 1000;
  record->venue = (a >> 20) % record_venues(recipe);
  record->length = snprintf(
      record->payload, sizeof record->payload,
      "{\"id\":\"%s\",\"updated_at\":%lld,\"home_id\":\"%s\",\"away_id\":\"%s\",\"venue\":%lld,"
      "\"starts_at\":%lld,\"status\":\"%s\",\"home_score\":%d,\"away_score\":%d,\"attendance\":%d,"
      "\"is_neutral\":%s,\"note\":\"%s\"}",
      record->id, (long long)record->modified_at, record->home, record->away, (long long)record->venue,
      (long long)(1767225600000 + number * 60000), b & 1 ? "final" : "scheduled", (int)(a >> 8) % 100 & 127,
      (int)(b >> 8) % 100 & 127, (int)(a >> 33) % 60000, a & 2 ? "true" : "false", note);
}

int64_t record_duplicates(struct record_recipe recipe) { return recipe.count / 5; }

void record_mac(struct record_recipe recipe, int64_t number, char mac[16]) {
  int64_t singles = recipe.count - record_duplicates(recipe);
  uint64_t owner = number < singles ? number : (number - singles) * 4;
  snprintf(mac, 16, "%012llx", (unsigned long long)(mixed(owner) & 0xffffffffffffu));
}

void record_make_with_mac(struct record_recipe recipe, int64_t number, struct record *record) {
  record_make(recipe, number, 1 + (mixed(number) & 1) + 2 * (mixed(number) >> 60), record);
  char mac[16], member[32];
  record_mac(recipe, number, mac);
  int length = snprintf(member, sizeof member, "\"mac\":\"%s\",", mac);
  memmove(record->payload + 1 + length, record->payload + 1, record->length);
  memcpy(record->payload + 1, member, length);
  record->length += length;
}

long process_peak(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss / 1024;
#else
  return usage.ru_maxrss;
#endif
}

double process_time(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
         1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void process_count(int begins) {
#ifdef CALLGRIND_ZERO_STATS
  if (begins) CALLGRIND_ZERO_STATS;
  else CALLGRIND_DUMP_STATS;
#else
  (void)begins;
#endif
}
