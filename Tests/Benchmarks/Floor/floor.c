// The physical limit: the same rows by prepared statements in the same transactions, and no other
// work.
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "records.h"
#include "slicer.h"
#include "xxh64.h"

static struct {
  const char *workload, *path;
  struct record_recipe recipe;
  int64_t generation;
  /// How many deltas come before the measured one, in the same process.
  int earlier;
  int page, group, cache, checkpoint;
  int is_lazy;
  const char *way;
  const char *lines;
  int is_in_order_of_rows;
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
  if (options.way) {
    execute(
        "CREATE TABLE IF NOT EXISTS records (row INTEGER PRIMARY KEY, id TEXT UNIQUE, modified_at INTEGER, mac TEXT, payload BLOB)");
    // Only one of the ways needs this index.
    if (!strcmp(options.way, "scan"))
      execute("CREATE INDEX IF NOT EXISTS records_mac ON records (mac, modified_at DESC, id) WHERE mac IS NOT NULL");
    return;
  }
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

/// All records, or with `--lazy` one page of them.
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

static void prepare_keyed_writes(void) {
  begin = prepare("BEGIN IMMEDIATE");
  commit = prepare("COMMIT");
  save = prepare("INSERT OR REPLACE INTO checkpoints VALUES ('games', ?)");
  upsert = prepare("INSERT INTO records (id, modified_at, mac, payload) VALUES (?, ?, ?, ?)");
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

/// The name of the content that is being written, if it has one.
static char content[64] = "";

static void save_checkpoint(int64_t place) {
  char checkpoint[400];
  int length = snprintf(
      checkpoint, sizeof checkpoint,
      "{\"scope\":{\"source\":\"floor\",\"query\":\"\",\"schemaVersion\":1,\"store\":\"floor\"},\"lastPass\":1,"
      "\"inFlight\":{\"number\":1,\"coverage\":\"everything\",\"resumeAt\":\"%lld%s\",\"fetched\":%lld}}",
      (long long)place, content, (long long)place);
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

// MARK: Lines

/// Reads a block of a file, and returns its length.
static size_t read_block(int file, char *block, size_t size, off_t offset) {
  size_t filled = 0;
  while (filled < size) {
    ssize_t count = pread(file, block + filled, size - filled, offset + filled);
    if (count < 0) {
      perror("floor");
      exit(1);
    }
    if (!count) break;
    filled += count;
  }
  return filled;
}

/// Digests a file and counts its lines, which names the content before anything of it is written.
static uint64_t survey_lines(int file, char *block, size_t size, int64_t *lines) {
  struct xxh64 hash;
  xxh64_begin(&hash);
  for (size_t count; (count = read_block(file, block, size, hash.length));) {
    xxh64_add(&hash, block, count);
    for (char *line = block; (line = memchr(line, '\n', block + count - line)); line++) ++*lines;
  }
  snprintf(content, sizeof content, " xxh64:%016llx:%llu", (unsigned long long)xxh64_value(&hash),
           (unsigned long long)hash.length);
  return xxh64_value(&hash);
}

/// Writes the objects of a file, one a line, and digests what it reads again: the content that was
/// written is the one that was named.
static int64_t write_lines(void) {
  enum { size = 1 << 18 };
  prepare_writes(0);
  int file = open(options.lines, O_RDONLY);
  char *block = malloc(size);
  int64_t lines = 0, place = 0, per_transaction = (int64_t)options.page * options.group;
  uint64_t named = survey_lines(file, block, size, &lines);
  struct xxh64 hash;
  xxh64_begin(&hash);
  for (size_t count; (count = read_block(file, block, size, hash.length));) {
    char *start = block, *end = block + count, *newline;
    for (; (newline = memchr(start, '\n', end - start)); start = newline + 1) {
      if (place % per_transaction == 0) run(begin);
      struct slicer slicer = {start, newline};
      struct slice slice;
      if (slicer_next(&slicer, &slice) <= 0) {
        fprintf(stderr, "floor: a line could not be sliced\n");
        exit(1);
      }
      write_record(slice.id, slice.length_of_id, slice.modified_at, slice.payload, slice.length);
      if (++place % per_transaction == 0 || place == lines) {
        save_checkpoint(place);
        run(commit);
      }
    }
    // The next block begins with the line that this one cuts.
    xxh64_add(&hash, block, start - block);
  }
  if (xxh64_value(&hash) != named) {
    fprintf(stderr, "floor: the file has changed\n");
    exit(1);
  }
  close(file);
  free(block);
  return place;
}

/// Makes the file: the records, one a line.
static void make_lines(void) {
  FILE *file = fopen(options.path, "w");
  struct record record;
  for (int64_t place = 0; file && place < options.recipe.count; place++) {
    make(place, &record);
    fwrite(record.payload, 1, record.length, file);
    putc('\n', file);
  }
  if (!file || fclose(file)) {
    perror("floor");
    exit(1);
  }
}

// MARK: Pushing

enum { edits_at_once = 100, edits_in_portion = 400 };

#define OUTBOX_COLUMNS \
  "type, id, physical, counter, replica, schema_version, base, base_epoch, base_sequence, base_modified_at," \
  "base_entity_tag, base_schema_version, sent, sent_physical, sent_counter, sent_replica, sent_schema_version," \
  "state, state_at, refusal, attempts, payload, base_payload, sent_payload"

static void create_outbox(void) {
  execute(
      "CREATE TABLE IF NOT EXISTS outbox ("
      "  entry INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL, physical INTEGER NOT NULL,"
      "  counter INTEGER NOT NULL, replica TEXT NOT NULL, schema_version INTEGER, base TEXT NOT NULL,"
      "  base_epoch INTEGER, base_sequence INTEGER, base_modified_at INTEGER, base_entity_tag TEXT,"
      "  base_schema_version INTEGER, sent TEXT NOT NULL, sent_physical INTEGER, sent_counter INTEGER,"
      "  sent_replica TEXT, sent_schema_version INTEGER, state TEXT NOT NULL, state_at INTEGER, refusal TEXT,"
      "  attempts INTEGER NOT NULL, payload BLOB, base_payload BLOB, sent_payload BLOB);"
      "CREATE UNIQUE INDEX IF NOT EXISTS outbox_record ON outbox (type, id);"
      "CREATE INDEX IF NOT EXISTS outbox_stamp ON outbox (type, physical, counter, replica, id)");
}

/// The columns in which a row of the outbox differs from the others.
struct pending {
  char id[40];
  int64_t physical, counter, base_modified_at;
  int length, base_length;
  char payload[record_payload_limit], base_payload[record_payload_limit];
};

static sqlite3_stmt *queue, *requeue;

static void write_pending(sqlite3_stmt *queue, const struct pending *pending, const char *sent, int attempts) {
  sqlite3_bind_text(queue, 1, "games", 5, SQLITE_STATIC);
  sqlite3_bind_text(queue, 2, pending->id, 36, SQLITE_STATIC);
  sqlite3_bind_int64(queue, 3, pending->physical);
  sqlite3_bind_int64(queue, 4, pending->counter);
  sqlite3_bind_text(queue, 5, "0123456789abcdef0123456789abcdef", 32, SQLITE_STATIC);
  sqlite3_bind_int64(queue, 6, 1);
  sqlite3_bind_text(queue, 7, "copy", 4, SQLITE_STATIC);
  sqlite3_bind_int64(queue, 8, 0);
  sqlite3_bind_int64(queue, 9, 0);
  sqlite3_bind_int64(queue, 10, pending->base_modified_at);
  sqlite3_bind_int64(queue, 12, 1);
  sqlite3_bind_text(queue, 13, sent, -1, SQLITE_STATIC);
  sqlite3_bind_text(queue, 18, "waiting", 7, SQLITE_STATIC);
  sqlite3_bind_int64(queue, 21, attempts);
  if (pending->length) sqlite3_bind_blob(queue, 22, pending->payload, pending->length, SQLITE_STATIC);
  sqlite3_bind_blob(queue, 23, pending->base_payload, pending->base_length, SQLITE_STATIC);
  run(queue);
}

static void read_pending(sqlite3_stmt *row, struct pending *pending) {
  memcpy(pending->id, sqlite3_column_text(row, 1), 36);
  pending->physical = sqlite3_column_int64(row, 2);
  pending->counter = sqlite3_column_int64(row, 3);
  pending->base_modified_at = sqlite3_column_int64(row, 9);
  pending->length = sqlite3_column_bytes(row, 21);
  memcpy(pending->payload, sqlite3_column_blob(row, 21), pending->length);
  pending->base_length = sqlite3_column_bytes(row, 22);
  memcpy(pending->base_payload, sqlite3_column_blob(row, 22), pending->base_length);
}

static void prepare_outbox(void) {
  create_outbox();
  queue = prepare(
      "INSERT INTO outbox (" OUTBOX_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (type, id) DO UPDATE SET physical = excluded.physical, counter = excluded.counter,"
      " replica = excluded.replica, schema_version = excluded.schema_version, base = excluded.base,"
      " base_epoch = excluded.base_epoch, base_sequence = excluded.base_sequence,"
      " base_modified_at = excluded.base_modified_at, base_entity_tag = excluded.base_entity_tag,"
      " base_schema_version = excluded.base_schema_version, sent = excluded.sent,"
      " sent_physical = excluded.sent_physical, sent_counter = excluded.sent_counter,"
      " sent_replica = excluded.sent_replica, sent_schema_version = excluded.sent_schema_version,"
      " state = excluded.state, state_at = excluded.state_at, refusal = excluded.refusal,"
      " attempts = excluded.attempts, payload = excluded.payload, base_payload = excluded.base_payload,"
      " sent_payload = excluded.sent_payload");
  requeue = prepare(
      "UPDATE outbox SET schema_version = ?6, base = ?7, base_epoch = ?8, base_sequence = ?9, base_modified_at = ?10,"
      " base_entity_tag = ?11, base_schema_version = ?12, sent = ?13, sent_physical = ?14, sent_counter = ?15,"
      " sent_replica = ?16, sent_schema_version = ?17, state = ?18, state_at = ?19, refusal = ?20, attempts = ?21,"
      " payload = ?22, base_payload = ?23, sent_payload = ?24"
      " WHERE type = ?1 AND id = ?2 AND physical = ?3 AND counter = ?4 AND replica = ?5");
}

/// Edits records: each row, and its row in the outbox.
static void make_edits(void) {
  prepare_outbox();
  int64_t count = record_edits(options.recipe);
  for (int64_t place = 0; place < count; place++) {
    if (place % edits_at_once == 0) run(begin);
    struct record base, edited;
    int64_t number = record_of_edit(options.recipe, place);
    record_make(options.recipe, number, 0, &base);
    record_make(options.recipe, number, 1, &edited);
    write_record(edited.id, 36, edited.modified_at, edited.payload, edited.length);
    struct pending pending = {
        .physical = 1800000000000000, .counter = place, .base_modified_at = base.modified_at,
        .length = edited.length, .base_length = base.length};
    memcpy(pending.id, edited.id, 36);
    memcpy(pending.payload, edited.payload, edited.length);
    memcpy(pending.base_payload, base.payload, base.length);
    write_pending(queue, &pending, "nothing", 0);
    if (place % edits_at_once == edits_at_once - 1 || place == count - 1) run(commit);
  }
}

/// Pushes the edits to a remote that accepts all. They are read in portions. Before a batch is sent,
/// its edits are marked as sent. Afterwards each row takes the remote's version and its edit leaves
/// the outbox.
static int64_t push_edits(void) {
  prepare_writes(0);
  prepare_outbox();
  sqlite3_stmt *portion = prepare(
      "SELECT " OUTBOX_COLUMNS " FROM outbox WHERE type = 'games' AND (physical, counter, replica) > (?, ?, ?)"
      " ORDER BY physical, counter, replica, id LIMIT ?");
  sqlite3_stmt *entry = prepare("SELECT " OUTBOX_COLUMNS " FROM outbox WHERE type = 'games' AND id = ?");
  sqlite3_stmt *state = prepare("SELECT modified_at, payload = ? FROM records WHERE id = ?");
  sqlite3_stmt *touch = prepare("UPDATE records SET modified_at = ? WHERE id = ?");
  sqlite3_stmt *dequeue = prepare("DELETE FROM outbox WHERE type = 'games' AND id = ?");
  struct pending *loaded = malloc(sizeof *loaded * edits_in_portion), *batch = malloc(sizeof *batch * edits_at_once);
  int64_t pushed = 0, physical = INT64_MIN, counter = -1;
  while (1) {
    int count = 0;
    sqlite3_bind_int64(portion, 1, physical);
    sqlite3_bind_int64(portion, 2, counter);
    sqlite3_bind_text(portion, 3, "", 0, SQLITE_STATIC);
    sqlite3_bind_int64(portion, 4, edits_in_portion);
    while (sqlite3_step(portion) == SQLITE_ROW) read_pending(portion, loaded + count++);
    check(sqlite3_reset(portion));
    if (!count) break;
    physical = loaded[count - 1].physical;
    // One replica makes the edits, so the next portion begins after the counter alone.
    counter = loaded[count - 1].counter + 1;
    for (int start = 0; start < count; start += edits_at_once) {
      int end = start + edits_at_once < count ? start + edits_at_once : count;
      run(begin);
      for (int i = start; i < end; i++) {
        sqlite3_bind_text(entry, 1, loaded[i].id, 36, SQLITE_STATIC);
        check(sqlite3_step(entry));
        read_pending(entry, batch + (i - start));
        check(sqlite3_reset(entry));
        write_pending(requeue, batch + (i - start), "edit", 1);
      }
      run(commit);
      run(begin);
      for (int i = 0; i < end - start; i++) {
        struct pending *sent = batch + i, now;
        sqlite3_bind_text(entry, 1, sent->id, 36, SQLITE_STATIC);
        check(sqlite3_step(entry));
        read_pending(entry, &now);
        check(sqlite3_reset(entry));
        sqlite3_bind_text(dequeue, 1, sent->id, 36, SQLITE_STATIC);
        run(dequeue);
        sqlite3_bind_blob(state, 1, sent->payload, sent->length, SQLITE_STATIC);
        sqlite3_bind_text(state, 2, sent->id, 36, SQLITE_STATIC);
        if (sqlite3_step(state) != SQLITE_ROW || !sqlite3_column_int(state, 1)) {
          fprintf(stderr, "floor: an edit differs from its record\n");
          exit(1);
        }
        check(sqlite3_reset(state));
        sqlite3_bind_int64(touch, 1, 4000000000000);
        sqlite3_bind_text(touch, 2, sent->id, 36, SQLITE_STATIC);
        run(touch);
        pushed++;
      }
      run(commit);
    }
  }
  free(loaded);
  free(batch);
  return pushed;
}

// MARK: Rebuilding

static void fill_keyed(void) {
  prepare_keyed_writes();
  int64_t count = total();
  for (int64_t number = 0; number < count; number++) {
    if (number % options.page == 0) run(begin);
    struct record record;
    char mac[16];
    record_make_with_mac(options.recipe, number, &record);
    record_mac(options.recipe, number, mac);
    sqlite3_bind_text(upsert, 1, record.id, 36, SQLITE_STATIC);
    sqlite3_bind_int64(upsert, 2, record.modified_at);
    sqlite3_bind_text(upsert, 3, mac, 12, SQLITE_STATIC);
    sqlite3_bind_blob(upsert, 4, record.payload, record.length, SQLITE_STATIC);
    run(upsert);
    if (number % options.page == options.page - 1 || number == count - 1) run(commit);
  }
}

/// The rows of the losing records, with their shared key, and their number.
static struct loser {
  char mac[16];
  int64_t row;
} *losers;
static int64_t losing;

static void lose(const char *mac, int64_t row) {
  struct loser *loser = losers + losing++;
  memcpy(loser->mac, mac, strlen(mac) + 1);
  loser->row = row;
}

static int by_mac(const void *a, const void *b) {
  return strcmp(((const struct loser *)a)->mac, ((const struct loser *)b)->mac);
}

static int by_row(const void *a, const void *b) {
  int64_t first = ((const struct loser *)a)->row, second = ((const struct loser *)b)->row;
  return (first > second) - (first < second);
}

/// The window function ranks the records within each group.
static void find_by_window(void) {
  sqlite3_stmt *select = prepare(
      "SELECT mac, row FROM (SELECT mac, row, row_number() OVER (PARTITION BY mac ORDER BY modified_at DESC, id) AS place"
      " FROM records WHERE mac IS NOT NULL) WHERE place > 1");
  while (sqlite3_step(select) == SQLITE_ROW) lose((const char *)sqlite3_column_text(select, 0), sqlite3_column_int64(select, 1));
  check(sqlite3_reset(select));
}

/// Equal keys are adjacent in the index, the latest first.
static void find_by_scan(void) {
  sqlite3_stmt *select = prepare(
      "SELECT mac, row FROM records INDEXED BY records_mac WHERE mac IS NOT NULL ORDER BY mac, modified_at DESC, id");
  char last[16] = "";
  while (sqlite3_step(select) == SQLITE_ROW) {
    const char *mac = (const char *)sqlite3_column_text(select, 0);
    if (!strncmp(mac, last, sizeof last)) lose(mac, sqlite3_column_int64(select, 1));
    else strncpy(last, mac, sizeof last - 1);
  }
  check(sqlite3_reset(select));
}

struct best {
  char mac[16], id[40];
  int64_t row, modified_at;
};

/// One pass over the table, in storage order, with a hash table of the best records so far.
static void find_by_hash(void) {
  int64_t size = 1;
  while (size < options.recipe.count * 2) size *= 2;
  struct best *table = calloc(size, sizeof *table);
  sqlite3_stmt *select = prepare("SELECT row, id, modified_at, mac FROM records WHERE mac IS NOT NULL");
  while (sqlite3_step(select) == SQLITE_ROW) {
    struct best found = {.row = sqlite3_column_int64(select, 0), .modified_at = sqlite3_column_int64(select, 2)};
    strncpy(found.id, (const char *)sqlite3_column_text(select, 1), sizeof found.id - 1);
    strncpy(found.mac, (const char *)sqlite3_column_text(select, 3), sizeof found.mac - 1);
    uint64_t hash = 14695981039346656037u;
    for (const char *byte = found.mac; *byte; byte++) hash = (hash ^ (unsigned char)*byte) * 1099511628211u;
    struct best *slot = table + (hash & (size - 1));
    while (slot->row && strcmp(slot->mac, found.mac)) slot = slot == table + size - 1 ? table : slot + 1;
    if (!slot->row) {
      *slot = found;
      continue;
    }
    int is_later = found.modified_at != slot->modified_at ? found.modified_at > slot->modified_at
                                                          : strcmp(found.id, slot->id) < 0;
    lose(found.mac, is_later ? slot->row : found.row);
    if (is_later) *slot = found;
  }
  check(sqlite3_reset(select));
  free(table);
}

/// Deletes the losers in batches. Each leaves its row without a payload, and its deletion in the
/// outbox with the deleted copy.
static int64_t rebuild(void) {
  enum { losers_at_once = 1000 };
  prepare_keyed_writes();
  prepare_outbox();
  losers = calloc(options.recipe.count, sizeof *losers);
  if (!strcmp(options.way, "window")) find_by_window();
  else if (!strcmp(options.way, "hash")) find_by_hash();
  else find_by_scan();
  // Batches of the same records as ours, or in the order that suits the disk best.
  if (options.is_in_order_of_rows) qsort(losers, losing, sizeof *losers, by_row);
  else if (strcmp(options.way, "scan")) qsort(losers, losing, sizeof *losers, by_mac);
  sqlite3_stmt *select = prepare("SELECT id, modified_at, payload FROM records WHERE row = ? AND payload IS NOT NULL");
  sqlite3_stmt *delete = prepare("UPDATE records SET mac = NULL, payload = NULL WHERE row = ?");
  struct pending pending = {.physical = 1800000000000000};
  for (int64_t place = 0; place < losing; place++) {
    if (place % losers_at_once == 0) run(begin);
    sqlite3_bind_int64(select, 1, losers[place].row);
    if (sqlite3_step(select) != SQLITE_ROW) {
      fprintf(stderr, "floor: a loser is missing\n");
      exit(1);
    }
    memcpy(pending.id, sqlite3_column_text(select, 0), 36);
    pending.base_modified_at = sqlite3_column_int64(select, 1);
    pending.base_length = sqlite3_column_bytes(select, 2);
    memcpy(pending.base_payload, sqlite3_column_blob(select, 2), pending.base_length);
    check(sqlite3_reset(select));
    pending.counter = place;
    write_pending(queue, &pending, "nothing", 0);
    sqlite3_bind_int64(delete, 1, losers[place].row);
    run(delete);
    if (place % losers_at_once == losers_at_once - 1 || place == losing - 1) {
      save_checkpoint(place);
      run(commit);
    }
  }
  if (losing != record_duplicates(options.recipe)) {
    fprintf(stderr, "floor: %lld records lost\n", (long long)losing);
    exit(1);
  }
  return options.recipe.count;
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
                    "             [--earlier N] [--cache KIB] [--checkpoint PAGES] [--lazy]\n"
                    "             [--way window|hash|scan] [--rows-in-order] [--lines FILE]\n");
    exit(2);
  }
  options.workload = argv[1];
  options.path = argv[2];
  for (int i = 3; i < argc; i++) {
    long long value = i + 1 < argc ? atoll(argv[i + 1]) : 0;
    if (!strcmp(argv[i], "--rows-in-order")) options.is_in_order_of_rows = 1;
    else if (!strcmp(argv[i], "--random")) options.recipe.has_random_ids = 1;
    else if (!strcmp(argv[i], "--lazy")) options.is_lazy = 1;
    else if (!strcmp(argv[i], "--records")) options.recipe.count = value, i++;
    else if (!strcmp(argv[i], "--generation")) options.generation = value, i++;
    else if (!strcmp(argv[i], "--earlier")) options.earlier = value, i++;
    else if (!strcmp(argv[i], "--page")) options.page = value, i++;
    else if (!strcmp(argv[i], "--group")) options.group = value, i++;
    else if (!strcmp(argv[i], "--way") && i + 1 < argc) options.way = argv[i + 1], i++;
    else if (!strcmp(argv[i], "--lines") && i + 1 < argc) options.lines = argv[i + 1], i++;
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
  if (!strcmp(options.workload, "W13fill")) {
    make_lines();
    return 0;
  }
  if (has_texts) {
    make_texts();
  } else if (!options.way && !options.lines && strcmp(options.workload, "W6") && strcmp(options.workload, "W7")) {
    records = malloc(sizeof *records * (options.is_lazy ? options.page : count));
    while (1) {
      for (int64_t place = 0; place < count && !options.is_lazy; place++) make(place, records + place);
      if (options.earlier-- <= 0) break;
      open_database(has_references);
      write_pages(has_references);
      close_database();
      options.generation++;
    }
  }
  open_database(has_references);
  process_count(1);
  double start = now(), processor = process_time();
  if (has_texts) write_texts();
  else if (options.lines) count = write_lines();
  else if (!strcmp(options.workload, "W6")) count = read_venues(200);
  else if (!strcmp(options.workload, "W7")) count = push_edits();
  else if (options.way) count = strcmp(options.workload, "W4") ? (fill_keyed(), count) : rebuild();
  else write_pages(has_references);
  if (!strcmp(options.workload, "W7fill")) make_edits();
  close_database();
  process_count(0);
  printf("{\"seconds\":%.6f,\"processor\":%.6f,\"peakMB\":%.1f,\"records\":%lld}\n", now() - start,
         process_time() - processor, process_peak() / 1024.0, (long long)count);
}
