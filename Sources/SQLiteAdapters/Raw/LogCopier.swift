#if SQLite
  import CSQLite

  /// Moves what has gathered in the log into the file, beside the writer where there is a queue for it.
  ///
  /// SQLite by itself lets the commit by which the log has grown too long wait for all of it, and for the disk. Here another connection
  /// copies each part as it comes, while the writer goes on; only the end of a long log holds the writer up, since a log is begun anew
  /// when nobody adds to it meanwhile. The connections need no agreement but SQLite's own: <https://www.sqlite.org/wal.html>.
  final class LogCopier {
    private let beside: SerialConnection?
    private let limits: Limits
    // How long the log was when the last part was begun.
    private var lastLength = 0

    /// Lengths of the log, in pages.
    struct Limits {
      /// How many pages come together before they are copied beside the writer.
      var part = 4096
      /// How many pages the log holds before the writer waits.
      ///
      /// Pages of indexes are changed again and again, and are copied once each time: with random ids, that is most of what is written
      /// (Docs/Performance.md).
      var whole = 16384
    }

    /// How much is left of the log's file after a burst, in bytes.
    static let lengthToKeep = 64 << 20

    /// - Parameter beside: Where the log is copied without holding up the writer; it has to have a queue.
    init(beside: SerialConnection?, limits: Limits = Limits()) {
      self.beside = beside
      self.limits = limits
    }

    /// Told after a commit of the writer how many pages the log has.
    func logHasGrown(to length: Int, of connection: Connection) {
      // It is begun anew when all of it has been copied.
      if length < lastLength { lastLength = 0 }
      if length >= limits.whole {
        Self.copy(connection)
      } else if let beside, length - lastLength >= limits.part {
        lastLength = length
        beside.begin { connection in
          Self.copy(connection)
          // Whoever begins the log anew has to wait until all of it is on the disk, and tells if that fails.
          _ = csqlite_flush(connection.handle)
        }
      }
    }

    // What cannot be copied now, because somebody reads or copies it or there is no room, stays in the log for the next time.
    private static func copy(_ connection: Connection) {
      _ = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
  }
#endif
