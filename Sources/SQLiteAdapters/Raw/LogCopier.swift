#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  import Synchronization

  /// Copies the write-ahead log into the file, on a connection beside the writer's.
  ///
  /// SQLite by itself copies the whole log, and waits for the disk, in the commit that makes the
  /// log too long. This class copies each part on another connection while the writer goes on. The
  /// writer waits only for the end of a long log, because a log restarts only when nothing is added
  /// to it meanwhile. The connections need no coordination but SQLite's own:
  /// <https://www.sqlite.org/wal.html>.
  ///
  /// Without a queue of its own for that connection, the writer copies the log.
  ///
  /// The system reports a failed flush once, and may have dropped what it had to write, which
  /// SQLite takes for copied. The log then stays as it is, also when the store is closed, and the
  /// next opening copies all of it again.
  final class LogCopier: Sendable {
    private let beside: SerialConnection<Connection>?
    private let schedule: Mutex<CopySchedule>

    /// The bytes of the log's file that remain after a burst.
    static let lengthToKeep = 64 << 20

    /// - Parameter beside: The connection that copies the log without delaying the writer. It needs
    ///   a queue.
    init(beside: SerialConnection<Connection>?, limits: CopySchedule.Limits = .init()) {
      self.beside = beside
      schedule = Mutex(CopySchedule(limits: limits))
    }

    /// Receives the log's length in pages after each commit of the writer.
    func logHasGrown(to length: Int, of connection: Connection) {
      if schedule.withLock(\.isStopped) { return connection.setCheckpointsOnClose(false) }
      let pass = schedule.withLock { schedule in
        beside == nil
          ? schedule.passOfWriter(at: length)
          : schedule.pass(at: length, isOnDisk: connection.flushesCommits)
      }
      switch pass {
      case .none:
        // The next edit waits until the whole log is on the disk.
        if connection.isBesideEdits, !connection.flushesCommits { Self.beginFlush(connection) }
      case .byWriter: Self.copy(connection)
      case .besideWriter:
        beside?.begin { connection in
          guard let connection else { return self.schedule.withLock { $0.passed(to: 0) } }
          let copied = Self.copy(connection)
          // The log restarts only after all of it is on the disk, and the restart waits for that.
          let isOnDisk = csqlite_flush(connection.handle) == SQLITE_OK
          if !isOnDisk { connection.setCheckpointsOnClose(false) }
          self.schedule.withLock { isOnDisk ? $0.passed(to: copied) : $0.stop() }
        }
      }
    }

    private static func beginFlush(_ connection: Connection) {
      DescriptorMargin.hold(1) { csqlite_begin_log_flush(connection.handle) }
    }

    // Pages that cannot be copied now stay in the log for the next copy. The reasons are other
    // readers, other copies, and a full disk.
    @discardableResult
    private static func copy(_ connection: Connection) -> Int {
      var copied: Int32 = 0
      _ = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, &copied)
      return max(0, Int(copied))
    }
  }
#endif
