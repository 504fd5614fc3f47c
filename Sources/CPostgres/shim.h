#pragma once

// What Swift cannot say itself: macros that are characters, waits for a socket, and the environment.

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "CanonicalSync needs libpq 14 or later."
#endif

/// The SQLSTATE of a failed result; NULL if the server gave none.
static inline const char *cpostgres_state(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/// Whether a failure is PgBouncer's refusal of transactions. Its other failures have the same SQLSTATE.
static inline int cpostgres_refuses_transactions(const PGresult *result) {
  const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return message && strstr(message, "in statement pooling mode") != NULL;
}

/// Waits until a connection can be read or written, at most for some milliseconds; 1 if it can, -1 if it has no socket.
static inline int cpostgres_wait(PGconn *connection, int is_writing, int milliseconds) {
  struct pollfd socket = {PQsocket(connection), is_writing ? POLLOUT : POLLIN, 0};
  if (socket.fd < 0) return -1;
  int ready = poll(&socket, 1, milliseconds);
  return ready < 0 ? (errno == EINTR ? 0 : -1) : ready;
}

/// Drops a notice of the server, which libpq would print to standard error.
static inline void cpostgres_drop(void *context, const PGresult *notice) {
  (void)context;
  (void)notice;
}

/// Begins to connect. A refusal's message begins with its SQLSTATE, which libpq tells no other way.
static inline PGconn *cpostgres_start(const char *const *keywords, const char *const *values) {
  PGconn *connection = PQconnectStartParams(keywords, values, 0);
  if (!connection) return NULL;
  PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
  // A server that shuts down sends notices from the first moment on.
  PQsetNoticeReceiver(connection, cpostgres_drop, NULL);
  return connection;
}

/// The value of a variable of the environment; NULL if it is not set or empty.
static inline const char *cpostgres_environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/// The order of two values by their bytes: negative if the first comes before the second, 0 if they are equal.
static inline int cpostgres_order(const void *a, long a_size, const void *b, long b_size) {
  long shared = a_size < b_size ? a_size : b_size;
  int order = shared > 0 ? memcmp(a, b, (size_t)shared) : 0;
  return order ? order : (a_size > b_size) - (a_size < b_size);
}

static inline int cpostgres_is_readable(const char *path) { return access(path, R_OK) == 0; }

static inline void cpostgres_pause(int milliseconds) { poll(NULL, 0, milliseconds); }

/// A second descriptor of a connection's socket, which stays open when the connection ends; negative if there is none.
static inline int cpostgres_duplicate(PGconn *connection) {
  int socket = PQsocket(connection);
  return socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0);
}

static inline void cpostgres_close(int descriptor) { close(descriptor); }
