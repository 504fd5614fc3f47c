#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The copy of a store's files as they were found, beside a log with transactions that SQLite
  /// cannot read.
  ///
  /// SQLite writes over them. The copy keeps them for a person, until it is removed.
  struct KeptFiles {
    private let path: String
    private static let operation = "keeping a damaged log"

    init(of path: String) {
      self.path = path
    }

    /// The copied file. Its log has the same name with `-wal`.
    var copy: String { path + ".damaged" }

    /// Whether there is a copy.
    var exist: Bool { csqlite_kind_of_path(copy) != 0 }

    private var log: String { path + "-wal" }

    /// Copies the files if SQLite cannot read transactions of the log, before the connection writes.
    ///
    /// Other processes cannot write meanwhile, nor begin the log anew. A copy has its name once it
    /// is whole and on the disk.
    ///
    /// - Throws: `storeFull` or `storeReadOnly` if the files cannot be copied, or there is a copy
    ///   with other transactions; `cancelled`; `storeBusy` if another process writes all the time.
    func keep(_ connection: Connection) throws(SyncError) {
      guard csqlite_is_empty(log) == 0, try UnreadCommits.find(inLog: log) != nil else { return }
      try connection.transaction(.write) { () throws(SyncError) in
        guard let commits = try UnreadCommits.find(inLog: log) else { return }
        guard exist else { return try make(connection) }
        if commits.areAlike(in: log, and: copy + "-wal") { return }
        throw SyncError(
          .storeReadOnly, during: Self.operation,
          "The log of \(path) is damaged, and \(copy) has the files of an earlier damage: put that elsewhere."
        )
      }
    }

    private func make(_ connection: Connection) throws(SyncError) {
      let partial = copy + ".incomplete"
      do throws(SyncError) {
        try FileCopy.make(ofLog: log, at: partial + "-wal", during: Self.operation)
        try FileCopy.make(ofFileOf: connection, at: partial, during: Self.operation)
        for suffix in ["-wal", ""] {
          let failure = csqlite_rename(partial + suffix, copy + suffix, StoreOpening.directory(of: path))
          if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: Self.operation) }
        }
      } catch {
        for suffix in ["", "-wal"] { _ = csqlite_remove(partial + suffix) }
        throw error
      }
    }
  }
#endif
