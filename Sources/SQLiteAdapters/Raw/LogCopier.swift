#if SQLite
  import CanonicalSyncCSQLite

  /// Copies the write-ahead log into the file, on a connection beside the writer's.
  ///
  /// SQLite by itself copies the whole log, and waits for the disk, in the commit that makes the
  /// log too long. This class copies each part on another connection while the writer goes on. The
  /// writer waits only for the end of a long log, because a log restarts only when nothing is added
  /// to it meanwhile. The connections need no coordination but SQLite's own:
  /// <https://www.sqlite.org/wal.html>.
  ///
  /// Without a queue of its own for that connection, the writer copies the log.
  final class LogCopier {
    private let beside: SerialConnection?
    private let limits: Limits
    // The length of the log when the last part was begun.
    private var lastLength = 0

    /// Limits of the log's length, in pages.
    struct Limits {
      /// The number of pages that are copied together beside the writer.
      var part = 4096
      /// The number of pages in the log that makes the writer wait.
      ///
      /// Index pages change repeatedly, and each copy writes them once. With random ids they are
      /// most of the writes (Docs/Performance.md).
      var whole = 16384
    }

    /// The bytes of the log's file that remain after a burst.
    static let lengthToKeep = 64 << 20

    /// - Parameter beside: The connection that copies the log without delaying the writer. It needs
    ///   a queue.
    init(beside: SerialConnection?, limits: Limits = Limits()) {
      self.beside = beside
      self.limits = limits
    }

    /// Receives the log's length in pages after each commit of the writer.
    func logHasGrown(to length: Int, of connection: Connection) {
      // The log restarts after all of it has been copied.
      if length < lastLength { lastLength = 0 }
      if length >= limits.whole {
        Self.copy(connection)
      } else if let beside, length - lastLength >= limits.part {
        lastLength = length
        beside.begin { connection in
          Self.copy(connection)
          // The log restarts only after all of it is on the disk. The restart waits for that, and
          // reports a failed flush.
          _ = csqlite_flush(connection.handle)
        }
      }
    }

    // Pages that cannot be copied now stay in the log for the next copy. The reasons are other
    // readers, other copies, and a full disk.
    private static func copy(_ connection: Connection) {
      _ = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
  }
#endif
