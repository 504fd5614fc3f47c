// The physical limit: the same rows through prepared statements in the same transactions, and nothing else.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "records.h"
#include "slicer.h"

static struct {
  const char *workload, *path;
  struct record_recipe recipe;
  int64_t generation;
  int page, group, cache, checkpoint;
  int is_lazy;
} options = {.page = 400, .group = 1, .recipe = {.count = 100000}};

static sqlite3 *database;

static void check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "floor: %s\n", sqlite3_errmsg(database));
  exit(1);
}

static void execute(const char *sql) { check(sqlite3_exec(database, sql, 0, 0, 0)); }

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, 0));
  return statement;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void open_database(int has_references) {
  check(sqlite3_open(options.path, &database));
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = NORMAL");
  char sql[100];
  if (options.cache) {
    snprintf(sql, sizeof sql, "PRAGMA cache_size = -%d", options.cache);
    execute(sql);
  }
  if (options.checkpoint) {
    snprintf(sql, sizeof sql, "PRAGMA wal_autocheckpoint = %d", options.checkpoint);
    execute(sql);
  }
  execute("CREATE TABLE IF NOT EXISTS checkpoints (type TEXT PRIMARY KEY, checkpoint TEXT)");
  if (!has_references) {
    execute("CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, type TEXT, modified_at INTEGER, payload BLOB)");
    return;
  }
  execute(
      "CREATE TABLE IF NOT EXISTS teams (id TEXT PRIMARY KEY);"
      "CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, type TEXT, modified_at INTEGER, payload BLOB,"
      "  home TEXT, away TEXT, venue INTEGER);"
      "CREATE INDEX IF NOT EXISTS records_home ON records (home);"
      "CREATE INDEX IF NOT EXISTS records_away ON records (away);"
      "CREATE INDEX IF NOT EXISTS records_venue ON records (venue);"
      "BEGIN");
  sqlite3_stmt *insert = prepare("INSERT OR IGNORE INTO teams VALUES (?)");
  for (int64_t number = 0; number < record_teams; number++) {
    char name[16];
    record_team(number, name);
    sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT);
    sqlite3_step(insert);
    check(sqlite3_reset(insert));
  }
  sqlite3_finalize(insert);
  execute("COMMIT");
}

static void close_database(void) {
  sqlite3_stmt *statement;
  while ((statement = sqlite3_next_stmt(database, 0))) sqlite3_finalize(statement);
  check(sqlite3_close(database));
}

// MARK: Pages

static int64_t total(void) {
  return strcmp(options.workload, "W3") ? options.recipe.count : options.recipe.count / 100;
}

static void make(int64_t place, struct record *record) {
  int64_t number = options.generation ? record_of_delta(options.recipe, place, options.generation) : place;
  record_make(options.recipe, number, options.generation, record);
}

/// All records, or with `--lazy` room for a page of them.
static struct record *records;

static struct record *page_at(int64_t start, int64_t end) {
  if (!options.is_lazy) return records + start;
  for (int64_t place = start; place < end; place++) make(place, records + (place - start));
  return records;
}

static sqlite3_stmt *begin, *commit, *upsert, *save, *exists;

static void prepare_writes(int has_references) {
  begin = prepare("BEGIN IMMEDIATE");
  commit = prepare("COMMIT");
  save = prepare("INSERT OR REPLACE INTO checkpoints VALUES ('games', ?)");
  upsert = prepare(
      has_references
          ? "INSERT INTO records VALUES (?, 'games', ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " modified_at = excluded.modified_at, payload = excluded.payload, home = excluded.home,"
            " away = excluded.away, venue = excluded.venue WHERE excluded.modified_at > modified_at"
          : "INSERT INTO records VALUES (?, 'games', ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " modified_at = excluded.modified_at, payload = excluded.payload"
            " WHERE excluded.modified_at > modified_at");
  if (has_references) exists = prepare("SELECT 1 FROM teams WHERE id = ?");
}

static void run(sqlite3_stmt *statement) {
  check(sqlite3_step(statement));
  check(sqlite3_reset(statement));
}

static int has_team(const char *name) {
  sqlite3_bind_text(exists, 1, name, (int)strlen(name), SQLITE_STATIC);
  int code = sqlite3_step(exists);
  check(code);
  sqlite3_reset(exists);
  return code == SQLITE_ROW;
}

static void write_record(const char *id, int length_of_id, int64_t modified_at, const char *payload, int length) {
  sqlite3_bind_text(upsert, 1, id, length_of_id, SQLITE_STATIC);
  sqlite3_bind_int64(upsert, 2, modified_at);
  sqlite3_bind_blob(upsert, 3, payload, length, SQLITE_STATIC);
  run(upsert);
}

static void save_checkpoint(int64_t place) {
  char checkpoint[300];
  int length = snprintf(
      checkpoint, sizeof checkpoint,
      "{\"scope\":{\"source\":\"floor\",\"query\":\"\",\"schemaVersion\":1,\"store\":\"floor\"},\"lastPass\":1,"
      "\"inFlight\":{\"number\":1,\"coverage\":\"everything\",\"resumeAt\":\"%lld\",\"fetched\":%lld}}",
      (long long)place, (long long)place);
  sqlite3_bind_text(save, 1, checkpoint, length, SQLITE_STATIC);
  run(save);
}

static void write_pages(int has_references) {
  prepare_writes(has_references);
  int64_t count = total(), pages = 0;
  for (int64_t start = 0; start < count; start += options.page) {
    int64_t end = start + options.page < count ? start + options.page : count;
    struct record *page = page_at(start, end);
    if (pages++ % options.group == 0) run(begin);
    for (int64_t i = 0; i < end - start; i++) {
      if (has_references) {
        if (!has_team(page[i].home) || !has_team(page[i].away)) continue;
        sqlite3_bind_text(upsert, 4, page[i].home, -1, SQLITE_STATIC);
        sqlite3_bind_text(upsert, 5, page[i].away, -1, SQLITE_STATIC);
        sqlite3_bind_int64(upsert, 6, page[i].venue);
      }
      write_record(page[i].id, 36, page[i].modified_at, page[i].payload, page[i].length);
    }
    if (pages % options.group == 0 || end == count) {
      save_checkpoint(end);
      run(commit);
    }
  }
}

// MARK: JSON

static char **texts;
static int *lengths;

static void write_texts(void) {
  prepare_writes(0);
  int64_t count = total(), place = 0;
  for (int page = 0; place < count; page++) {
    run(begin);
    struct slicer slicer = {texts[page], texts[page] + lengths[page]};
    struct slice slice;
    int found;
    while ((found = slicer_next(&slicer, &slice)) > 0) {
      write_record(slice.id, slice.length_of_id, slice.modified_at, slice.payload, slice.length);
      place++;
    }
    if (found < 0) {
      fprintf(stderr, "floor: a page could not be sliced\n");
      exit(1);
    }
    save_checkpoint(place);
    run(commit);
  }
}

static void make_texts(void) {
  int64_t count = total(), pages = (count + options.page - 1) / options.page;
  texts = calloc(pages, sizeof *texts);
  lengths = calloc(pages, sizeof *lengths);
  for (int64_t page = 0; page < pages; page++) {
    char *text = malloc((size_t)options.page * (record_payload_limit + 1) + 2), *end = text;
    *end++ = '[';
    for (int64_t place = page * options.page; place < count && place < (page + 1) * options.page; place++) {
      struct record record;
      make(place, &record);
      if (end[-1] != '[') *end++ = ',';
      memcpy(end, record.payload, record.length);
      end += record.length;
    }
    *end++ = ']';
    lengths[page] = (int)(end - text);
    texts[page] = text;
  }
}

// MARK: Reading

static int64_t read_venues(int queries) {
  sqlite3_stmt *select = prepare("SELECT id, type, modified_at, payload FROM records WHERE venue = ? ORDER BY id");
  int64_t rows = 0;
  for (int query = 0; query < queries; query++) {
    sqlite3_bind_int64(select, 1, query % record_venues(options.recipe));
    char **kept = malloc(sizeof *kept * 100000);
    int count = 0;
    while (sqlite3_step(select) == SQLITE_ROW && count < 100000) {
      int id = sqlite3_column_bytes(select, 0), payload = sqlite3_column_bytes(select, 3);
      char *copy = malloc(id + payload + 8);
      memcpy(copy, sqlite3_column_text(select, 0), id);
      memcpy(copy + id, sqlite3_column_blob(select, 3), payload);
      int64_t modified_at = sqlite3_column_int64(select, 2);
      memcpy(copy + id + payload, &modified_at, 8);
      kept[count++] = copy;
    }
    check(sqlite3_reset(select));
    rows += count;
    while (count) free(kept[--count]);
    free(kept);
  }
  return rows;
}

// MARK: Program

static void parse(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--version")) {
    puts(sqlite3_libversion());
    exit(0);
  }
  if (argc < 3) {
    fprintf(stderr, "usage: floor WORKLOAD PATH [--records N] [--random] [--generation N] [--page N] [--group N]\n"
                    "             [--cache KIB] [--checkpoint PAGES] [--lazy]\n");
    exit(2);
  }
  options.workload = argv[1];
  options.path = argv[2];
  for (int i = 3; i < argc; i++) {
    long long value = i + 1 < argc ? atoll(argv[i + 1]) : 0;
    if (!strcmp(argv[i], "--random")) options.recipe.has_random_ids = 1;
    else if (!strcmp(argv[i], "--lazy")) options.is_lazy = 1;
    else if (!strcmp(argv[i], "--records")) options.recipe.count = value, i++;
    else if (!strcmp(argv[i], "--generation")) options.generation = value, i++;
    else if (!strcmp(argv[i], "--page")) options.page = value, i++;
    else if (!strcmp(argv[i], "--group")) options.group = value, i++;
    else if (!strcmp(argv[i], "--cache")) options.cache = value, i++;
    else if (!strcmp(argv[i], "--checkpoint")) options.checkpoint = value, i++;
    else {
      fprintf(stderr, "floor: unknown option %s\n", argv[i]);
      exit(2);
    }
  }
}

int main(int argc, char **argv) {
  parse(argc, argv);
  int has_references = !strcmp(options.workload, "W1r") || !strcmp(options.workload, "W6");
  int has_texts = !strcmp(options.workload, "W5");
  int64_t count = total();
  if (has_texts) {
    make_texts();
  } else if (strcmp(options.workload, "W6")) {
    records = malloc(sizeof *records * (options.is_lazy ? options.page : count));
    for (int64_t place = 0; place < count && !options.is_lazy; place++) make(place, records + place);
  }
  open_database(has_references);
  process_count(1);
  double start = now(), processor = process_time();
  if (has_texts) write_texts();
  else if (!strcmp(options.workload, "W6")) count = read_venues(200);
  else write_pages(has_references);
  close_database();
  process_count(0);
  printf("{\"seconds\":%.6f,\"processor\":%.6f,\"peakMB\":%.1f,\"records\":%lld}\n", now() - start,
         process_time() - processor, process_peak() / 1024.0, (long long)count);
}
