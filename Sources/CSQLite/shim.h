#pragma once

// What Swift cannot say itself: variadic functions, macros that are casts, and file locks.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <TargetConditionals.h>
#include <sys/mount.h>
#endif

// Open-file-description locks, where the headers hide them.
#if defined(__linux__)
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#endif
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif
#elif defined(__APPLE__)
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 90
#endif
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 92
#endif
#endif

/// Sets a switch of a connection.
static inline int csqlite_configure(sqlite3 *connection, int option, int value) {
  return sqlite3_db_config(connection, option, value, (int *)0);
}

/// One of a connection's open files, by the control that gives it; null, and a result code, without one.
static inline sqlite3_file *csqlite_file(sqlite3 *connection, int pointer, int *code) {
  sqlite3_file *file = (sqlite3_file *)0;
  *code = sqlite3_file_control(connection, "main", pointer, &file);
  return *code == SQLITE_OK && file && file->pMethods ? file : (sqlite3_file *)0;
}

/// Waits until what has been written to one of a connection's files is on the disk.
static inline int csqlite_sync(sqlite3 *connection, int pointer, int how) {
  int code;
  sqlite3_file *file = csqlite_file(connection, pointer, &code);
  return file ? file->pMethods->xSync(file, how) : code;
}

/// Waits until what has been written to a connection's file is on the disk.
static inline int csqlite_flush(sqlite3 *connection) {
  return csqlite_sync(connection, SQLITE_FCNTL_FILE_POINTER, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/// Waits until what has been written to a connection's log is on the disk.
static inline int csqlite_flush_log(sqlite3 *connection) {
  return csqlite_sync(connection, SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_SYNC_FULL);
}

/// Binds text that SQLite copies. An empty text may have no address, which SQLite would take for NULL.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  if (count == 0) return sqlite3_bind_text(statement, index, "", 0, SQLITE_STATIC);
  return sqlite3_bind_text(statement, index, (const char *)bytes, count, SQLITE_TRANSIENT);
}

/// Binds bytes that SQLite copies.
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/// Binds text that stays where it is until the statement is reset.
static inline int csqlite_bind_borrowed_text(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_text(statement, index, bytes ? (const char *)bytes : "", count, SQLITE_STATIC);
}

/// Binds bytes that stay where they are until the statement is reset.
static inline int csqlite_bind_borrowed_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

/// Compares a row's text or blob with bytes, as `memcmp` does; NULL comes before all.
static inline int csqlite_compare_column(sqlite3_stmt *statement, int column, const void *bytes, int count) {
  // As a blob: a text would be copied to end with a zero.
  const void *stored = sqlite3_column_blob(statement, column);
  int stored_count = sqlite3_column_bytes(statement, column);
  int shared = stored_count < count ? stored_count : count;
  int order = shared > 0 ? memcmp(stored, bytes, (size_t)shared) : 0;
  return order ? order : stored_count - count;
}

/// Whether as many bytes lie in one place as in another, and the same ones.
static inline int csqlite_is_same(const void *a, size_t a_count, const void *b, size_t b_count) {
  return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count) == 0);
}

/// Mixes a word into a digest. A change of one of them always changes the result.
static inline unsigned long long csqlite_mix(unsigned long long digest, unsigned long long word) {
  digest ^= word;
  return (digest << 32 | digest >> 32) * 0x9E3779B97F4A7C15ull;
}

static inline unsigned long long csqlite_word(const unsigned char *place) {
  unsigned long long word;
  memcpy(&word, place, sizeof word);
  return word;
}

/// A digest of some bytes, which a change of any one word changes.
///
/// The processor runs its two chains at once.
static inline unsigned long long csqlite_digest(const void *bytes, size_t count) {
  const unsigned char *place = (const unsigned char *)bytes;
  unsigned long long even = count, odd = 0;
  if (count >= 16) {
    // The last words have some bytes of those before them.
    const unsigned char *last = place + count - 16;
    for (; place < last; place += 16) {
      even = csqlite_mix(even, csqlite_word(place));
      odd = csqlite_mix(odd, csqlite_word(place + 8));
    }
    even = csqlite_mix(even, csqlite_word(last));
    odd = csqlite_mix(odd, csqlite_word(last + 8));
  } else {
    for (size_t byte = 0; byte < count; byte++) odd = csqlite_mix(odd, place[byte]);
  }
  return csqlite_mix(csqlite_mix(0, even), odd);
}

/// Adds a column to the digest of a row. NULL is not added.
static inline unsigned long long csqlite_add_column(
    unsigned long long digest, int place, int type, unsigned long long word) {
  return csqlite_mix(digest ^ (unsigned long long)(place << 3 | type) * 0xD6E8FEB86659FD93ull, word);
}

/// The checksum of a row with a digest. A number of 32 bits takes four bytes in a file.
static inline int csqlite_checksum(unsigned long long digest) { return (int)(digest >> 32); }

/// The SQL function of the checksum: of its arguments' values, types and places.
static inline void csqlite_give_checksum(sqlite3_context *context, int count, sqlite3_value **values) {
  unsigned long long digest = 0;
  for (int place = 0; place < count; place++) {
    unsigned long long word;
    int type = sqlite3_value_type(values[place]);
    if (type == SQLITE_NULL) continue;
    if (type == SQLITE_INTEGER) {
      word = (unsigned long long)sqlite3_value_int64(values[place]);
    } else if (type == SQLITE_FLOAT) {
      double number = sqlite3_value_double(values[place]);
      memcpy(&word, &number, sizeof word);
    } else {
      // The address first, then the length.
      const void *bytes = sqlite3_value_blob(values[place]);
      size_t length = (size_t)sqlite3_value_bytes(values[place]);
      word = csqlite_digest(bytes, length);
    }
    digest = csqlite_add_column(digest, place, type, word);
  }
  sqlite3_result_int(context, csqlite_checksum(digest));
}

/// Gives text back from a function; SQLite copies it.
static inline void csqlite_result_text(sqlite3_context *context, const void *bytes, int count) {
  sqlite3_result_text(context, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT);
}

/// Gives bytes back from a function; SQLite copies them.
static inline void csqlite_result_blob(sqlite3_context *context, const void *bytes, int count) {
  sqlite3_result_blob(context, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/// Opens a file that its owner alone may read, creating it where it is missing; the negated errno on failure.
static inline int csqlite_open_private(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return file >= 0 ? file : -errno;
}

static inline void csqlite_close(int file) { close(file); }

/// Opens a file to read it; the negated errno on failure.
static inline int csqlite_open_to_read(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  return file >= 0 ? file : -errno;
}

/// Reads at a place until there are so many bytes or the file ends, and returns how many; the negated errno on failure.
static inline long csqlite_read(int file, void *bytes, size_t count, long long offset) {
  size_t done = 0;
  while (done < count) {
    ssize_t step = pread(file, (char *)bytes + done, count - done, (off_t)(offset + (long long)done));
    if (step == 0) break;
    if (step > 0) done += (size_t)step;
    else if (errno != EINTR) return -errno;
  }
  return (long)done;
}

/// Writes all bytes at a place; 0, or an errno.
static inline int csqlite_write(int file, const void *bytes, size_t count, long long offset) {
  for (size_t done = 0; done < count;) {
    ssize_t step = pwrite(file, (const char *)bytes + done, count - done, (off_t)(offset + (long long)done));
    if (step >= 0) done += (size_t)step;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

/// Creates an empty file that its owner alone may read; 0, or an errno. A file that exists is not opened.
static inline int csqlite_create_private(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  close(file);
  return 0;
}

/// Removes a file; 0, or an errno.
static inline int csqlite_remove(const char *path) { return unlink(path) == 0 ? 0 : errno; }

/// Writes a file through to the disk; 0, or an errno.
static inline int csqlite_write_through(int file) { return fsync(file) == 0 ? 0 : errno; }

/// Gives a file another name, and notes that on the disk; 0, or an errno.
static inline int csqlite_rename(const char *from, const char *to, const char *directory) {
  if (rename(from, to) != 0) return errno;
  int file = csqlite_open_to_read(directory);
  if (file < 0) return -file;
  int failure = csqlite_write_through(file);
  close(file);
  return failure;
}

/// Starts a program of SQLite that recovers a damaged file into a new one; the process, or a negated errno.
///
/// What the program prints of its failures is not kept.
static inline int csqlite_recover(const char *program, const char *from, const char *to) {
#if defined(__APPLE__) && !TARGET_OS_OSX
  (void)program, (void)from, (void)to;
  return -ENOTSUP;
#else
  extern char **environ;
  char *arguments[] = {
      "sh", "-c", "command -v \"$0\" > /dev/null || exit 127; \"$0\" \"$1\" .recover 2> /dev/null | \"$0\" \"$2\" > /dev/null 2>&1",
      (char *)program, (char *)from, (char *)to, (char *)0};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, so that all of it can be ended.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process;
  int failure = posix_spawn(&process, "/bin/sh", (void *)0, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  return failure ? -failure : (int)process;
#endif
}

/// The exit code of a started process, 128 after a signal; -1 while it runs.
static inline int csqlite_exit_status(int process) {
  int status = 0;
  pid_t ended = waitpid((pid_t)process, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return -1;
  return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Ends a started process and what it has started.
static inline void csqlite_kill(int process) { kill(-(pid_t)process, SIGKILL); }

/// Takes a file from everybody but its owner; 0, or an errno where that cannot be.
static inline int csqlite_make_private(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return errno;
  if ((status.st_mode & 0177) == 0) return 0;
  return fchmod(file, 0600) == 0 ? 0 : errno;
}

/// Whether a connection's file no longer lies under the name that it was opened by.
static inline int csqlite_has_moved(sqlite3 *connection) {
  int moved = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/// How many files the process may have open at once; `INT_MAX` without a limit.
static inline int csqlite_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
  return (int)limit.rlim_cur;
}

/// The number of the file system of a path, as in statfs(2); 0 if it is not known. Where the system itself tells
/// that one is of a network, -1.
static inline long csqlite_file_system(const char *path) {
  struct statfs found;
  if (statfs(path, &found) != 0) return 0;
#if defined(__APPLE__)
  return found.f_flags & MNT_LOCAL ? 0 : -1;
#else
  return (long)(unsigned)found.f_type;
#endif
}

/// How many files the process may still open, counted until there are enough.
static inline int csqlite_free_descriptors(int enough) {
  int end = csqlite_descriptor_limit(), count = 0;
  if (end == INT_MAX) return enough;
  // The system gives the least number that is free, so most of the free ones are at the end.
  while (end > 0 && count < enough) {
    struct pollfd files[64];
    int length = end < 64 ? end : 64;
    for (int i = 0; i < length; i++) files[i] = (struct pollfd){.fd = end - length + i};
    if (poll(files, (nfds_t)length, 0) < 0) {
      if (errno == EINTR) continue;
      return enough;
    }
    for (int i = 0; i < length; i++) count += (files[i].revents & POLLNVAL) != 0;
    end -= length;
  }
  return count;
}

/// The errno with which no file can be opened, `EMFILE` or `ENFILE`; 0 where one can be.
static inline int csqlite_shortage(void) {
  int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    close(file);
    return 0;
  }
  return errno == EMFILE || errno == ENFILE ? errno : 0;
}

/// Begins to write what the system's cache has of the log to the disk, without waiting for it.
///
/// Only a later flush makes it durable. Other systems than Linux have no such call.
static inline void csqlite_begin_log_flush(sqlite3 *connection) {
#if defined(__linux__) && defined(__LP64__) && defined(SYS_sync_file_range)
  const char *name = sqlite3_db_filename(connection, "main");
  const char *log = name ? sqlite3_filename_wal(name) : name;
  int file = log ? open(log, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  const unsigned int write = 2;
  (void)syscall(SYS_sync_file_range, file, 0L, 0L, write);
  // Closing a file releases the process's locks of it, but SQLite takes none of the log's file.
  close(file);
#else
  (void)connection;
#endif
}

/// Lets SQLite allocate memory without counting it, unless the process has used SQLite before.
static inline void csqlite_omit_memory_statistics(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// How many processors the process may use, at least 1.
static inline int csqlite_processor_count(void) {
#if defined(__linux__)
  // The C library hides this behind a macro that must be defined before all headers.
  unsigned long set[128];
  long size = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
  int allowed = 0;
  for (long i = 0; i < size / (long)sizeof set[0]; i++) allowed += __builtin_popcountl(set[i]);
  if (allowed > 0) return allowed;
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (int)count;
}

static inline int csqlite_process_id(void) { return (int)getpid(); }

/// 0 for what is missing, 1 for a regular file, 2 for a directory, 3 for anything else.
static inline int csqlite_kind_of_path(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return 0;
  if (S_ISREG(status.st_mode)) return 1;
  return S_ISDIR(status.st_mode) ? 2 : 3;
}

/// Whether a file exists and holds nothing, or does not exist.
static inline int csqlite_is_empty(const char *path) {
  struct stat status;
  return stat(path, &status) != 0 || status.st_size == 0;
}


/// Whether SQLite takes a file, or its absence, for a new database, beside which it deletes a log.
static inline int csqlite_is_new(const char *path) {
  struct stat status;
  return stat(path, &status) != 0 ? errno == ENOENT : status.st_size <= 1;
}

/// The bytes of a connection's file; the negated result code on failure.
static inline long long csqlite_file_size(sqlite3 *connection) {
  int code;
  sqlite3_file *file = csqlite_file(connection, SQLITE_FCNTL_FILE_POINTER, &code);
  if (!file) return -(long long)(code == SQLITE_OK ? SQLITE_CANTOPEN : code);
  sqlite3_int64 size = 0;
  code = file->pMethods->xFileSize(file, &size);
  return code == SQLITE_OK ? (long long)size : -(long long)code;
}

/// Reads bytes of a connection's file with its own descriptor; a result code.
///
/// Another descriptor would end the locks of all connections of the process when it is closed.
static inline int csqlite_read_file(sqlite3 *connection, void *bytes, int count, long long offset) {
  int code;
  sqlite3_file *file = csqlite_file(connection, SQLITE_FCNTL_FILE_POINTER, &code);
  if (!file) return code == SQLITE_OK ? SQLITE_CANTOPEN : code;
  return file->pMethods->xRead(file, bytes, count, offset);
}

static inline int csqlite_is_writable(const char *path) { return access(path, W_OK) == 0; }

static inline int csqlite_is_readable(const char *path) { return access(path, R_OK) == 0; }

/// How many names a file has; 0 for what is missing.
static inline long csqlite_link_count(const char *path) {
  struct stat status;
  return stat(path, &status) != 0 ? 0 : (long)status.st_nlink;
}

/// The path without symbolic links, to be freed; NULL for what is missing.
static inline char *csqlite_real_path(const char *path) { return realpath(path, (char *)0); }

static inline void csqlite_free(char *memory) { free(memory); }

/// Prepares the thread's heap for this many bytes, 25 MiB at most. They cost no memory before they are used.
///
/// The C library of GNU lets the heap of a thread other than the first grow by one page at a time, with a
/// system call for each. Once it has grown, it grows again without them.
static inline void csqlite_reserve(size_t bytes) {
#ifdef __GLIBC__
  // Larger pieces would be mapped apart from the heap.
  enum { size = 100 << 10, most = 256 };
  void *pieces[most];
  size_t count = 0;
  for (; count * size < bytes && count < most; count++)
    if (!(pieces[count] = malloc(size))) break;
  while (count > 0) free(pieces[--count]);
#else
  (void)bytes;
#endif
}

/// Where a symbolic link leads, to be freed; NULL for what is none.
static inline char *csqlite_link_target(const char *path) {
  size_t size = 4096;
  char *target = malloc(size + 1);
  if (!target) return target;
  ssize_t length = readlink(path, target, size);
  if (length < 0 || (size_t)length == size) {
    free(target);
    return (char *)0;
  }
  target[length] = 0;
  return target;
}

/// A lock on some bytes of a file, which belongs to the open file and not to its process; no length reaches to the end.
static inline struct flock csqlite_lock(short type, long long offset, long long length) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = (off_t)offset;
  lock.l_len = (off_t)length;
  return lock;
}

/// Locks one byte of a file until it is unlocked, or closed by all who have it open; 0, or an errno.
static inline int csqlite_lock_byte(int file, long long offset) {
  struct flock lock = csqlite_lock(F_WRLCK, offset, 1);
  return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

/// Gives up the locks of an open file, for a process as well that was forked meanwhile and has it open too.
static inline void csqlite_unlock(int file) {
  struct flock lock = csqlite_lock(F_UNLCK, 0, 0);
  fcntl(file, F_OFD_SETLK, &lock);
}

/// Whether another open file holds a lock on a byte; the negated errno when that cannot be found out.
static inline int csqlite_is_byte_locked(int file, long long offset) {
  struct flock lock = csqlite_lock(F_WRLCK, offset, 1);
  if (fcntl(file, F_OFD_GETLK, &lock) != 0) return -errno;
  return lock.l_type == F_UNLCK ? 0 : 1;
}
