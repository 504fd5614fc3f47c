#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Copies of a store's files as they were found, with a damaged log.
  ///
  /// SQLite ignores the transactions behind the damage, and writes over them. The copies keep them
  /// for a salvage.
  struct KeptFiles {
    private let path: String
    private static let operation = "keeping a damaged log"
    private static let maximum = 9

    init(of path: String) {
      self.path = path
    }

    /// The copies that exist. Each is a store with its log.
    var existing: [String] { names.filter { csqlite_kind_of_path($0) != 0 } }

    private var names: [String] {
      (1...Self.maximum).map { path + ".damaged" + ($0 == 1 ? "" : "-\($0)") }
    }

    private var log: String { path + "-wal" }

    /// Copies the files if SQLite ignores transactions of the log, before the connection writes.
    ///
    /// Other processes cannot write meanwhile, nor begin the log anew. A copy has its name once it
    /// is whole and on the disk.
    ///
    /// - Throws: `storeFull` or `storeReadOnly` if the files cannot be copied, or if there are nine
    ///   copies; `cancelled`; `storeBusy` if another process writes all the time.
    func keep(_ connection: Connection) throws(SyncError) {
      guard csqlite_is_empty(log) == 0, try LogDamage.find(inLog: log) != nil else { return }
      try connection.transaction(.write) { () throws(SyncError) in
        guard let damage = try LogDamage.find(inLog: log) else { return }
        // While a process lives that has read the transactions, SQLite ignores none of them.
        let known = csqlite_known_frames(connection.handle)
        guard known < (damage.commit?.number ?? 1) else { return }
        for copy in existing where try Self.log(copy + "-wal", has: damage.commit) { return }
        try copy(connection)
      }
    }

    private func copy(_ connection: Connection) throws(SyncError) {
      guard let name = names.first(where: { csqlite_kind_of_path($0) == 0 }) else {
        throw SyncError(
          .storeReadOnly, during: Self.operation,
          "\(path) has a damaged log, and there are \(Self.maximum) copies of such; salvage and remove them.")
      }
      let partial = path + ".damaged.incomplete"
      do throws(SyncError) {
        try FileCopy.make(ofLog: log, at: partial + "-wal", during: Self.operation)
        try FileCopy.make(ofFileOf: connection, at: partial, during: Self.operation)
        for suffix in ["-wal", ""] {
          let failure = csqlite_rename(partial + suffix, name + suffix, StoreOpening.directory(of: path))
          if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: Self.operation) }
        }
      } catch {
        for suffix in ["", "-wal"] { _ = csqlite_remove(partial + suffix) }
        throw error
      }
    }

    /// Whether a log has a frame, wherever the damage is.
    ///
    /// Any other log without a readable frame counts as equal to such a log.
    private static func log(_ log: String, has commit: LogDamage.Commit?) throws(SyncError) -> Bool {
      guard let commit else { return try LogDamage.find(inLog: log)?.isUnreadable ?? false }
      guard var frames = try LogFrames(log) else { return false }
      while let frame = try frames.next() {
        if frame.number == commit.number { return frame.checksum == commit.checksum }
      }
      return false
    }
  }
#endif
