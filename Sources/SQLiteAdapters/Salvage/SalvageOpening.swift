#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Opens a damaged file, or what can be recovered of it.
  final class SalvageOpening: Sendable {
    private let path: String
    private let scratch: String
    private let program: String
    private let found = Mutex<(losses: [SalvageLoss], copies: Set<String>)>(([], []))

    init(path: String, scratch: String, program: String) {
      (self.path, self.scratch, self.program) = (path, scratch, program)
    }

    deinit { removeCopies() }

    /// What the opening has left out.
    var losses: [SalvageLoss] { found.withLock(\.losses) }

    private var recovered: String { scratch + "-recovered" }
    private static let operation = "opening the damaged store"

    /// Opens the file for reading.
    ///
    /// A file that SQLite can open is read in place, because a copy needs room and time.
    func open() throws(SyncError) -> Connection {
      found.withLock { $0.losses = [] }
      let source = try source()
      try listUnreadCommits(of: source)
      // SQLite would delete the log of an empty file.
      if csqlite_is_new(source) == 0 {
        // A reader of a log needs a file beside it, so the directory must not be read-only.
        if let connection = try usable(source, flags: SQLITE_OPEN_READONLY) { return connection }
        try copy(source)
        if let connection = try usable(scratch, flags: SQLITE_OPEN_READWRITE) { return connection }
        if let connection = try recover() { return connection }
      }
      throw SyncError(
        .storeUnreadable, during: Self.operation,
        "Nothing of \(path) can be read: it is empty or no store, or the list of its tables is lost.")
    }

    /// Removes the copies that were made.
    func removeCopies() {
      for copy in found.withLock(\.copies) { remove(copy) }
    }

    private func remove(_ copy: String) {
      for suffix in ["", "-wal", "-shm", "-journal"] { _ = csqlite_remove(copy + suffix) }
      found.withLock { _ = $0.copies.remove(copy) }
    }

    private func lose(_ part: SalvageLoss.Part, _ detail: String) {
      found.withLock { $0.losses.append(SalvageLoss(part, detail)) }
    }

    /// The file's own path. SQLite keeps the log beside the file, not beside a link to it.
    private func source() throws(SyncError) -> String {
      guard csqlite_kind_of_path(path) == 1, csqlite_is_readable(path) != 0 else {
        throw SyncError(
          .storeUnreadable, during: Self.operation, "\(path) is missing, or cannot be read.")
      }
      let source = try StoreOpening.resolved(path)
      for suffix in ["", "-wal", "-shm"] {
        for copy in [scratch, recovered] where try StoreOpening.resolved(copy) == source + suffix {
          throw SyncError(
            .invalidConfiguration, during: Self.operation,
            "The copy \(copy) would replace the damaged store; give it another name.")
        }
      }
      return source
    }

    /// Lists what SQLite cannot read of the log, and what a former opening has kept of it.
    private func listUnreadCommits(of source: String) throws(SyncError) {
      let kept = KeptFiles(of: source)
      if kept.exist { lose(.outbox, "\(kept.copy) and its log may have edits that the store lacks") }
      do throws(SyncError) {
        guard try UnreadCommits.find(inLog: source + "-wal") != nil else { return }
      } catch {
        guard error.isOfDamagedStore else { throw error }
      }
      lose(.outbox, "the log is damaged; what was written last, and edits in it, may be lost")
    }

    /// Opens a file, if it has a store's tables; `nil` otherwise.
    private func usable(_ path: String, flags: Int32) throws(SyncError) -> Connection? {
      do throws(SyncError) {
        let connection = try connection(path, flags: flags)
        let tables = try connection.transaction(.read) { () throws(SyncError) in
          try connection.value(
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('outbox', 'state', 'entities')")
        }
        try connection.execute("PRAGMA query_only = 1")
        return tables ?? 0 > 0 ? connection : nil
      } catch {
        guard error.isOfDamagedStore || error.code == .storeReadOnly else { throw error }
        return nil
      }
    }

    private func connection(_ path: String, flags: Int32) throws(SyncError) -> Connection {
      let connection = try Connection(
        uri: StoreOpening.uri(path), flags: flags, busyTimeout: .seconds(5))
      connection.setCheckpointsOnClose(false)
      return connection
    }

    private func copy(_ source: String) throws(SyncError) {
      remove(scratch)
      found.withLock { _ = $0.copies.insert(scratch) }
      let operation = "copying the damaged store"
      let pages = try FileCopy.make(
        ofFileOf: connection(source, flags: SQLITE_OPEN_READONLY), at: scratch, during: operation)
      if pages > 0 { lose(.outbox, "pages of the file cannot be read (\(pages)); edits in them may be lost") }
      if csqlite_is_empty(source + "-wal") == 0 {
        try FileCopy.make(ofLog: source + "-wal", at: scratch + "-wal", during: operation)
      }
    }

    // MARK: Recovery

    /// Lets SQLite's own program recover the copy into a new file.
    ///
    /// - Returns: The new file; `nil` if it has no table of a store.
    private func recover() throws(SyncError) -> Connection? {
      remove(recovered)
      found.withLock { _ = $0.copies.insert(recovered) }
      _ = csqlite_create_private(recovered)
      let process = csqlite_recover(program, scratch, recovered)
      guard process > 0 else { throw unrecovered("cannot be started here") }
      var status: Int32 = -1
      repeat {
        if Task.isCancelled { csqlite_kill(process) }
        _ = sqlite3_sleep(10)
        status = csqlite_exit_status(process)
      } while status == -1
      if Task.isCancelled { throw SyncError(.cancelled, during: Self.operation, "The salvage was stopped.") }
      if status == 127 { throw unrecovered("is not installed") }
      let connection = try connection(recovered, flags: SQLITE_OPEN_READWRITE)
      let tables = try connection.value("SELECT count(*) FROM sqlite_schema WHERE type = 'table'")
      guard tables ?? 0 > 0 else {
        throw unrecovered("recovers nothing of it; its `.recover` needs SQLite's table `sqlite_dbpage`")
      }
      lose(.outbox, "SQLite refuses the file; it was read as the program \(program) recovers it")
      try connection.adoptLostRows()
      return try usable(recovered, flags: SQLITE_OPEN_READONLY)
    }

    private func unrecovered(_ reason: String) -> SyncError {
      SyncError(
        .storeUnreadable, during: Self.operation,
        """
        SQLite refuses \(path), and the program `\(program)`, whose command `.recover` may still read it, \
        \(reason). Install that program, and salvage again.
        """)
    }
  }

  extension Connection {
    /// Gives rows that were recovered without their table to the table that has as many columns.
    fileprivate func adoptLostRows() throws(SyncError) {
      let hasLost = try hasTable("lost_and_found")
      for (name, number) in [("outbox", "entry"), ("conflicts", "number"), ("state", nil)] {
        let isMissing = try !hasTable(name)
        try transaction(.write) { () throws(SyncError) in
          if isMissing {
            // The table, and its indexes.
            for statement in Migration.all.flatMap(\.statements)
            where statement.hasPrefix("CREATE") && statement.contains(" \(name) (") {
              try execute(statement)
            }
          }
          guard hasLost else { return }
          var values: [String] = []
          try forEachRow("SELECT name FROM pragma_table_info('\(name)')") { row throws(SyncError) in
            // The column with the row's number is stored as NULL.
            values.append(row.text(0) == number ? "id" : "c\(values.count)")
          }
          let rows = "FROM lost_and_found WHERE nfield = \(values.count) AND id > 0"
          try execute("INSERT OR IGNORE INTO \(name) SELECT \(values.joined(separator: ", ")) \(rows)")
        }
      }
    }
  }
#endif
