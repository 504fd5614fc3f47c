#if SQLite
  import CSQLite
  import SyncModels

  /// One connection to a database file, used by one thread at a time.
  final class Connection {
    let handle: OpaquePointer
    /// What is known of the registered types, as long as the file says the same.
    var catalog = Catalog.empty
    /// What the writer has found to be live.
    /// What the writer has added to types that it found empty.
    var newRecords = NewRecordFilter()
    /// What the writer has found in the outbox.
    var knownEdits = KnownEdits()
    // What the file was when it was looked at for these.
    private var knownVersion: Int64?
    // Who keeps the log short; otherwise nobody does before the connection is closed.
    private var logCopier: LogCopier?
    private var statements: [String: Statement] = [:]
    // SQLite may have rolled a transaction back by itself; what follows must not be committed piecemeal.
    private var failure: SyncError?
    // Asked before each step, and cheaper to look at than the failure.
    private var isSpoilt = false
    private var isInTransaction = false
    private var flushesCommits = false

    // Texts of statements are few, except for those of queries that an app makes up.
    private static let maximumStatements = 256

    /// Opens a file named by a URI.
    init(uri: String, flags: Int32, busyTimeout: Duration) throws(SyncError) {
      var handle: OpaquePointer?
      let code = sqlite3_open_v2(uri, &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
      guard let handle else { throw SQLiteFailure(code: code).error(during: "opening the store") }
      guard code == SQLITE_OK else {
        let failure = SQLiteFailure(
          code: sqlite3_extended_errcode(handle), systemError: sqlite3_system_errno(handle))
        sqlite3_close_v2(handle)
        throw failure.error(during: "opening the store")
      }
      self.handle = handle
      sqlite3_extended_result_codes(handle, 1)
      sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.wholeMicroseconds / 1000))
      // These switches exist in every SQLite that has what the schema needs; an older one would fail there.
      for (option, value) in [
        (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
        (SQLITE_DBCONFIG_DQS_DDL, 0),
      ] {
        _ = csqlite_configure(handle, Int32(option), Int32(value))
      }
      FieldFunction.install(on: handle)
    }

    deinit {
      for statement in statements.values { statement.finalize() }
      sqlite3_close_v2(handle)
    }

    /// Whether closing the last connection moves the log into the file.
    func setCheckpointsOnClose(_ flag: Bool) {
      _ = csqlite_configure(handle, Int32(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), flag ? 0 : 1)
    }

    /// Lets a copier keep the log short, in place of SQLite.
    func copyLog(by copier: LogCopier) {
      logCopier = copier
      // It is called as long as the connection is open.
      let context = Unmanaged.passUnretained(self).toOpaque()
      sqlite3_wal_hook(
        handle,
        { context, _, _, length in
          guard let context else { return SQLITE_OK }
          let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
          connection.logCopier?.logHasGrown(to: Int(length), of: connection)
          return SQLITE_OK
        }, context)
    }

    /// Refuses to write into a file that was removed, or replaced by another, while it was open.
    ///
    /// What is written there is lost to everybody but this process.
    func checkIsInPlace() throws(SyncError) {
      guard csqlite_has_moved(handle) != 0 else { return }
      throw SyncError(
        .storeFailure, during: "writing into the store",
        "The store's file was removed or replaced while it was open. Close the store, and open it anew.")
    }

    /// Whether the file can only be read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// The number of the row that was inserted last.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Sets ``lastRow`` back, so that it tells whether a row is inserted from now on.
    func forgetLastRow() { sqlite3_set_last_insert_rowid(handle, 0) }

    /// How many statements are in the middle of a run.
    var busyStatements: Int {
      var count = 0
      var statement = sqlite3_next_stmt(handle, nil)
      while let current = statement {
        if sqlite3_stmt_busy(current) != 0 { count += 1 }
        statement = sqlite3_next_stmt(handle, current)
      }
      return count
    }
  }

  // MARK: Statements

  extension Connection {
    /// The statement with a text, prepared once.
    func statement(_ sql: String) throws(SyncError) -> Statement {
      if let known = statements[sql] { return known }
      let made = Statement(
        handle: try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT)), connection: self)
      statements[sql] = made
      return made
    }

    // Between transactions nobody is in the middle of using one.
    private func forgetStatementsIfMany() {
      guard statements.count > Self.maximumStatements else { return }
      for statement in statements.values { statement.finalize() }
      statements = [:]
    }

    /// Runs one statement that gives no rows and is not worth keeping.
    func execute(_ sql: String) throws(SyncError) {
      let statement = Statement(handle: try prepare(sql, flags: 0), connection: self)
      defer { statement.finalize() }
      while try statement.step() {}
    }

    /// The single value of a statement's first row.
    func value(_ sql: String) throws(SyncError) -> Int64? {
      let statement = Statement(handle: try prepare(sql, flags: 0), connection: self)
      defer { statement.finalize() }
      return try statement.step() ? statement.integer(0) : nil
    }

    /// The single text of a statement's first row.
    func text(_ sql: String) throws(SyncError) -> String? {
      let statement = Statement(handle: try prepare(sql, flags: 0), connection: self)
      defer { statement.finalize() }
      return try statement.step() ? statement.text(0) : nil
    }

    private func prepare(_ sql: String, flags: UInt32) throws(SyncError) -> OpaquePointer {
      var statement: OpaquePointer?
      let code = sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
      guard code == SQLITE_OK, let statement else { throw failed() }
      return statement
    }
  }

  // MARK: Transactions

  extension Connection {
    /// Runs a body in a transaction, whole or not at all.
    ///
    /// - Parameter flushes: Whether it is on the disk when this returns, so that a power failure does not take it back.
    func transaction<R>(
      _ begin: Begin, flushes: Bool = false, _ body: () throws(SyncError) -> R
    ) throws(SyncError) -> R {
      forgetFailure()
      if begin == .write, isReadOnly {
        // SQLite would begin all the same, and fail at the first change.
        throw SQLiteFailure(code: SQLITE_READONLY).error(during: "beginning a transaction")
      }
      forgetStatementsIfMany()
      if begin == .write, flushes != flushesCommits { try setFlushing(flushes) }
      try statement(begin.rawValue).run()
      isInTransaction = true
      defer {
        isInTransaction = false
        forgetFailure()
      }
      do {
        let result = try body()
        // A body may have caught a statement's error; this statement then refuses to run, like any other.
        try statement("COMMIT").run()
        return result
      } catch {
        forgetFailure()
        forgetWhatIsKnown()
        // SQLite ends a transaction by itself when, say, the disk is full.
        if sqlite3_get_autocommit(handle) == 0 {
          // Nothing can be done about a rollback that fails: closing the connection undoes the transaction too.
          try? statement("ROLLBACK").run()
        }
        throw error
      }
    }

    // It cannot be changed inside a transaction.
    private func setFlushing(_ flag: Bool) throws(SyncError) {
      try execute("PRAGMA synchronous = \(flag ? "FULL" : "NORMAL")")
      flushesCommits = flag
    }

    /// How a transaction begins.
    enum Begin: String {
      /// With the first read, to which it then keeps.
      case read = "BEGIN DEFERRED"
      /// By taking the right to write.
      case write = "BEGIN IMMEDIATE"
    }

    /// Refuses to go on in a transaction that a statement's failure has spoilt.
    func demandHealth() throws(SyncError) {
      if isSpoilt, let failure { throw failure }
    }

    /// Forgets what is known unless the file is as this connection left it; to be called within a transaction.
    func refreshWhatIsKnown() throws(SyncError) {
      // It changes when others commit, and not by what is written here.
      let statement = try statement("PRAGMA data_version")
      defer { statement.reset() }
      let version = try statement.step() ? statement.integer(0) : nil
      if version == nil || version != knownVersion { forgetWhatIsKnown() }
      knownVersion = version
    }

    private func forgetWhatIsKnown() {
      newRecords.forget()
      knownEdits.forget()
    }

    private func forgetFailure() {
      failure = nil
      isSpoilt = false
    }

    /// Spoils the transaction under way, because the file holds something that this library never writes.
    ///
    /// What was read of it may still be looked at, and nothing comes of that: the next statement fails, and the end of the transaction is one.
    func noteDamage(_ what: String) {
      guard isInTransaction, failure == nil else { return }
      failure = SyncError(
        .storeUnreadable, during: "running a transaction",
        "The store is damaged: it holds \(what). Nothing of this transaction was kept.")
      isSpoilt = true
    }

    /// The failure of the last call, which also spoils the transaction under way.
    func failed() -> SyncError {
      let error = SQLiteFailure(
        code: sqlite3_extended_errcode(handle), systemError: sqlite3_system_errno(handle)
      ).error(during: isInTransaction ? "running a transaction" : "using the store")
      if isInTransaction {
        failure = error
        isSpoilt = true
      }
      return error
    }
  }
#endif
