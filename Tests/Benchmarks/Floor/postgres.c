// The physical limit of PostgreSQL: the same pages by libpq in the same transactions, and no other
// work. `--way` is how a page is written: one statement with arrays, COPY into a table of the
// session and one statement from there, or one statement a row.
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "records.h"

static struct {
  const char *workload, *way;
  char address[1000];
  struct record_recipe recipe;
  int page;
} options = {.way = "arrays", .page = 400, .recipe = {.count = 100000}};

static PGconn *connection;
static struct record *records;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, PQerrorMessage(connection));
  exit(1);
}

static void check(PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN && status != PGRES_PIPELINE_SYNC)
    fail(PQresultErrorMessage(result));
  PQclear(result);
}

static void execute(const char *sql) { check(PQexec(connection, sql)); }

static void prepare(const char *name, const char *sql) { check(PQprepare(connection, name, sql, 0, NULL)); }

// MARK: Binary values

struct buffer {
  char *bytes;
  size_t size, capacity;
};

static void put(struct buffer *buffer, const void *bytes, size_t size) {
  if (buffer->size + size > buffer->capacity) {
    buffer->capacity = (buffer->size + size) * 2;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
  }
  memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
}

static void put_word(struct buffer *buffer, uint32_t word) {
  word = __builtin_bswap32(word);
  put(buffer, &word, 4);
}

static void put_value(struct buffer *buffer, const void *bytes, uint32_t size) {
  put_word(buffer, size);
  put(buffer, bytes, size);
}

static void begin_array(struct buffer *buffer, uint32_t element, uint32_t count) {
  buffer->size = 0;
  uint32_t header[] = {1, 0, element, count, 1};
  for (int i = 0; i < 5; i++) put_word(buffer, header[i]);
}

static int64_t swapped(int64_t number) { return (int64_t)__builtin_bswap64((uint64_t)number); }

// MARK: Pages

// In a pipeline, statements go to the server together, and their results come back together.
static void begin_pipeline(void) {
  if (!PQenterPipelineMode(connection)) fail("pipeline");
}

static void send(const char *name, int count, const char *const *values, const int *lengths) {
  static const int formats[] = {1, 1, 1, 1};
  if (!PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)) fail(name);
}

static void end_pipeline(int statements) {
  if (!PQpipelineSync(connection)) fail("sync");
  for (int i = 0; i < statements; i++) {
    check(PQgetResult(connection));
    PQgetResult(connection);
  }
  check(PQgetResult(connection));
  if (!PQexitPipelineMode(connection)) fail("pipeline");
}

static void send_checkpoint(int64_t place) {
  char text[300];
  int length = snprintf(
      text, sizeof text,
      "{\"scope\":{\"source\":\"floor\",\"query\":\"\",\"schemaVersion\":1,\"store\":\"floor\"},\"lastPass\":1,"
      "\"inFlight\":{\"number\":1,\"coverage\":\"everything\",\"resumeAt\":\"%lld\",\"fetched\":%lld}}",
      (long long)place, (long long)place);
  send("save", 1, (const char *const[]){text}, &length);
}

static void write_by_arrays(int64_t start, int64_t end) {
  static struct buffer ids, times, payloads;
  uint32_t count = (uint32_t)(end - start);
  begin_array(&ids, 17, count);
  begin_array(&times, 20, count);
  begin_array(&payloads, 17, count);
  for (int64_t place = start; place < end; place++) {
    int64_t time = swapped(records[place].modified_at);
    put_value(&ids, records[place].id, 36);
    put_value(&times, &time, 8);
    put_value(&payloads, records[place].payload, records[place].length);
  }
  begin_pipeline();
  send("begin", 0, NULL, NULL);
  send("arrays", 3, (const char *const[]){ids.bytes, times.bytes, payloads.bytes},
       (int[]){ids.size, times.size, payloads.size});
  send_checkpoint(end);
  send("commit", 0, NULL, NULL);
  end_pipeline(4);
}

static void write_by_copy(int64_t start, int64_t end) {
  static struct buffer rows;
  rows.size = 0;
  put(&rows, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
  for (int64_t place = start; place < end; place++) {
    int64_t time = swapped(records[place].modified_at);
    uint16_t columns = __builtin_bswap16(3);
    put(&rows, &columns, 2);
    put_value(&rows, records[place].id, 36);
    put_value(&rows, &time, 8);
    put_value(&rows, records[place].payload, records[place].length);
  }
  put(&rows, "\377\377", 2);
  execute("BEGIN; COPY page FROM STDIN (FORMAT binary)");
  if (PQputCopyData(connection, rows.bytes, rows.size) != 1 || PQputCopyEnd(connection, NULL) != 1) fail("copy");
  PGresult *result;
  while ((result = PQgetResult(connection))) check(result);
  begin_pipeline();
  send("from page", 0, NULL, NULL);
  send_checkpoint(end);
  send("commit", 0, NULL, NULL);
  end_pipeline(3);
}

static void write_by_rows(int64_t start, int64_t end) {
  execute("BEGIN");
  for (int64_t place = start; place < end; place++) {
    static const int formats[] = {1, 1, 1};
    int64_t time = swapped(records[place].modified_at);
    check(PQexecPrepared(
        connection, "row", 3, (const char *const[]){records[place].id, (char *)&time, records[place].payload},
        (int[]){36, 8, records[place].length}, formats, 1));
  }
  begin_pipeline();
  send_checkpoint(end);
  send("commit", 0, NULL, NULL);
  end_pipeline(2);
}

#define UPSERT                                                                                       \
  " ON CONFLICT (id) DO UPDATE SET modified_at = excluded.modified_at, payload = excluded.payload" \
  " WHERE excluded.modified_at > r.modified_at"

static void open_database(void) {
  connection = PQconnectdb(options.address);
  if (PQstatus(connection) != CONNECTION_OK) fail("connecting");
  execute(
      "SET client_min_messages = warning; SET jit = off; SET plan_cache_mode = force_generic_plan;"
      "CREATE SCHEMA IF NOT EXISTS floor; SET search_path = floor;"
      "CREATE TABLE IF NOT EXISTS checkpoints (type text PRIMARY KEY, checkpoint text);"
      "CREATE TABLE IF NOT EXISTS records (id bytea PRIMARY KEY, modified_at bigint, payload bytea);"
      "CREATE TEMP TABLE page (id bytea, modified_at bigint, payload bytea) ON COMMIT DELETE ROWS");
  prepare("begin", "BEGIN");
  prepare("commit", "COMMIT");
  prepare("save", "INSERT INTO checkpoints VALUES ('games', $1::text)"
                  " ON CONFLICT (type) DO UPDATE SET checkpoint = excluded.checkpoint");
  prepare("arrays", "INSERT INTO records AS r SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[])" UPSERT);
  prepare("from page", "INSERT INTO records AS r SELECT * FROM page" UPSERT);
  prepare("row", "INSERT INTO records AS r VALUES ($1::bytea, $2::bigint, $3::bytea)" UPSERT);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  options.workload = arguments[1];
  snprintf(options.address, sizeof options.address, "%.*s", (int)strcspn(arguments[2], "?"), arguments[2]);
  for (int i = 3; i + 1 < count; i += 2) {
    if (!strcmp(arguments[i], "--records")) options.recipe.count = atoll(arguments[i + 1]);
    if (!strcmp(arguments[i], "--page")) options.page = atoi(arguments[i + 1]);
    if (!strcmp(arguments[i], "--way")) options.way = arguments[i + 1];
  }
  int64_t total = options.recipe.count;
  records = malloc(sizeof *records * (size_t)total);
  for (int64_t place = 0; place < total; place++) record_make(options.recipe, place, 0, records + place);
  open_database();
  void (*write)(int64_t, int64_t) = !strcmp(options.way, "rows")   ? write_by_rows
                                    : !strcmp(options.way, "copy") ? write_by_copy
                                                                   : write_by_arrays;
  double start = now(), processor = process_time();
  for (int64_t place = 0; place < total; place += options.page)
    write(place, place + options.page < total ? place + options.page : total);
  PQfinish(connection);
  printf("{\"seconds\":%f,\"processor\":%f,\"peakMB\":%f,\"records\":%lld}\n", now() - start,
         process_time() - processor, process_peak() / 1024.0, (long long)total);
}
