#if SQLite
  import CanonicalSyncCSQLite
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
    private let beside: SerialConnection?
    private let schedule: Mutex<CopySchedule>

    /// The bytes of the log's file that remain after a burst.
    static let lengthToKeep = 64 << 20

    /// - Parameter beside: The connection that copies the log without delaying the writer. It needs
    ///   a queue.
    init(beside: SerialConnection?, limits: CopySchedule.Limits = .init()) {
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

  /// Decides when to copy the log, and who does.
  ///
  /// Once the log is long, each pass beside the writer copies what was added during the pass before
  /// it. The passes become shorter, until the writer has to wait for a short one only.
  struct CopySchedule: Hashable {
    /// Limits of the log's length, in pages.
    struct Limits: Hashable {
      /// The number of pages that are copied together beside the writer.
      var part = 4096
      /// The number of pages that the first pass copies.
      ///
      /// Each further one copies as many as all before it, up to ``part``. A small sync then ends
      /// with little left to copy, and a large one soon copies large parts. Passes that a reader
      /// keeps from copying also become rarer.
      var firstPart = 256
      /// The number of pages that are copied together if the commit has flushed them.
      ///
      /// The flush of the copy is then short, and mostly over before the app's next edit flushes
      /// the log. The pass does not flush the log again.
      var flushedPart = 256
      /// The number of pages after which the log should restart.
      ///
      /// Index pages change repeatedly, and each copy writes them once. With random ids they are
      /// most of the writes (Docs/Performance.md).
      var whole = 16384
      /// The number of uncopied pages that the writer copies itself, to let the log restart.
      var end = 256
    }

    /// Who makes a pass.
    enum Pass: Hashable {
      case none, besideWriter, byWriter
    }

    let limits: Limits
    /// The place in the log up to which it has been copied beside the writer.
    private var copied = 0
    /// The number of pages that the last such pass copied.
    private var lastPart = 0
    /// The number of pages that such passes had to copy, at most a part.
    private var begunInAll = 0
    /// Whether such a pass is under way.
    private var isUnderWay = false
    /// The length of the log at the writer's last pass.
    private var endedAt = 0
    /// Whether a sync has written since the last pass.
    private var isOfSync = false
    /// Whether no pass may follow.
    private(set) var isStopped = false

    init(limits: Limits) {
      self.limits = limits
    }

    /// Decides on a pass after a commit that made the log so long.
    ///
    /// - Parameter isOnDisk: Whether the commit has flushed the log, which only an app's edits do.
    mutating func pass(at length: Int, isOnDisk: Bool = false) -> Pass {
      if isStopped { return .none }
      // The log has restarted, which it does only after all of it has been copied.
      if length < max(copied, endedAt) { (copied, lastPart, endedAt) = (0, 0, 0) }
      let rest = length - copied
      isOfSync = isOfSync || !isOnDisk
      // A log so long costs more than the wait, whatever keeps the passes long.
      if length >= 2 * limits.whole { return endPass(at: length) }
      guard !isUnderWay else { return .none }
      // The writer makes no pass in an edit beside a sync: the sync's next commit does.
      if isOnDisk, isOfSync { return rest < limits.flushedPart ? .none : beginPass(of: rest) }
      guard length >= limits.whole else { return rest < part ? .none : beginPass(of: rest) }
      // A writer that is as fast as the copier adds as much again during each pass.
      let isShort = rest <= limits.end || rest <= limits.part / 2 && rest * 5 > lastPart * 4
      return isShort ? endPass(at: length) : beginPass(of: rest)
    }

    /// Ends the passes, after a flush that failed.
    mutating func stop() { isStopped = true }

    /// Decides on a pass of a writer without a copier beside it.
    func passOfWriter(at length: Int) -> Pass {
      length >= limits.whole ? .byWriter : .none
    }

    /// Notes the end of a pass beside the writer.
    ///
    /// - Parameter place: The place in the log up to which it copied.
    mutating func passed(to place: Int) {
      (lastPart, copied, isUnderWay) = (place - copied, place, false)
    }

    private var part: Int { min(limits.part, max(limits.firstPart, begunInAll)) }

    private mutating func beginPass(of rest: Int) -> Pass {
      (isUnderWay, isOfSync) = (true, false)
      begunInAll = min(limits.part, begunInAll + rest)
      return .besideWriter
    }

    // A reader of an older state keeps the log from restarting after the pass. The writer tries
    // again some pages later, not with each commit.
    private mutating func endPass(at length: Int) -> Pass {
      guard length - endedAt >= limits.end / 4 else { return .none }
      endedAt = length
      return .byWriter
    }
  }
#endif
