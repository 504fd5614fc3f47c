#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// One connection to a database file, used by one thread at a time.
  final class Connection {
    let handle: OpaquePointer
    /// The newest layout that may be used.
    let newestLayout: Int
    /// The registered types, cached while the file's catalog is unchanged.
    var catalog = Catalog()
    /// The place where the store has moved, as far as the catalog is current; `nil` for one in use.
    var movedTo: String?
    /// What the connection remembers of the file.
    var cache = ConnectionCache(.snapshot)
    // Keeps the log short. Without it, the log is copied only when the connection is closed.
    private var logCopier: LogCopier?
    private var statements: [String: Statement] = [:]
    // The failure that spoils the transaction. SQLite may have rolled it back, and later statements
    // must not be committed alone.
    private var failure: SyncError?
    // Checked before each step, and cheaper to read than the failure.
    private var isSpoilt = false
    private var isInTransaction = false
    /// Whether the writes that end now are on the disk at their return.
    private(set) var flushesCommits = false
    /// Whether the current transaction has to be on the disk once it is committed.
    private var flushesThisCommit = false
    // The number of further transactions during which another edit of the app is likely.
    private var transactionsBesideEdits = 0
    // The size of the cache in bytes, to be set once much has been written.
    private var laterCache: Int?

    // Statement texts are few, except for queries that an app composes.
    private static let maximumStatements = 256

    // All threads of the process would wait for the lock of the statistics, for each allocation.
    private static let omitsMemoryStatistics: Void = csqlite_omit_memory_statistics()

    /// Opens a file named by a URI.
    ///
    /// - Parameter newestLayout: The number of layout steps that the library knows.
    init(
      uri: String, flags: Int32, busyTimeout: Duration, newestLayout: Int = Migration.all.count
    ) throws(SyncError) {
      self.newestLayout = newestLayout
      Self.omitsMemoryStatistics
      var handle: OpaquePointer?
      let code = sqlite3_open_v2(uri, &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
      guard let handle else { throw SQLiteFailure(code: code).error(during: "opening the store") }
      guard code == SQLITE_OK else {
        let failure = SQLiteFailure(
          code: sqlite3_extended_errcode(handle), systemError: sqlite3_system_errno(handle)
        ).withShortage
        sqlite3_close_v2(handle)
        throw failure.error(during: "opening the store")
      }
      self.handle = handle
      sqlite3_extended_result_codes(handle, 1)
      sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.wholeMicroseconds / 1000))
      // These options exist in every SQLite version that supports the schema. An older version
      // would fail there.
      for (option, value) in [
        (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
        (SQLITE_DBCONFIG_DQS_DDL, 0),
      ] {
        _ = csqlite_configure(handle, Int32(option), Int32(value))
      }
      FieldFunction.install(on: handle)
      EditChecksum.install(on: handle)
    }

    deinit {
      for statement in statements.values { statement.finalize() }
      sqlite3_close_v2(handle)
    }

    /// Whether closing the last connection moves the log into the file.
    func setCheckpointsOnClose(_ flag: Bool) {
      _ = csqlite_configure(handle, Int32(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), flag ? 0 : 1)
    }

    /// Lets a copier keep the log short, instead of SQLite.
    func copyLog(by copier: LogCopier) {
      logCopier = copier
      // The callback is used only while the connection is open.
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

    /// Sets the size of the cache, which is smaller until much has been written.
    ///
    /// Memory for another page takes longer than reading a page again from the system's cache. A
    /// small change is over before a large cache gains anything.
    func setCache(bytes: Int) throws(SyncError) {
      let first = min(bytes, Self.firstCache)
      try execute("PRAGMA cache_size = -\(max(1, first / 1024))")
      reserveCache(bytes: first)
      laterCache = bytes > Self.firstCache ? bytes : nil
    }

    /// The largest cache until much has been written, in bytes: SQLite's default.
    private static let firstCache = 2_000 << 10
    /// The number of written pages that are much.
    private static let manyPages = 4096

    /// Whether this connection has written much since it was opened.
    var hasWrittenMuch: Bool {
      var (pages, unused): (Int32, Int32) = (0, 0)
      sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 0)
      return pages >= Self.manyPages
    }

    /// Refuses to write if the file was removed or replaced while it was open.
    ///
    /// Other processes would not see those writes.
    func checkIsInPlace() throws(SyncError) {
      guard csqlite_has_moved(handle) != 0 else { return }
      throw SyncError(
        .storeFailure, during: "writing into the store",
        "The store's file was removed or replaced while it was open. Close the store, and open it again.")
    }

    /// Whether the file can only be read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// The path of the file's log; `nil` for a database without a file.
    var logPath: String? {
      guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0,
        let log = sqlite3_filename_wal(name)
      else { return nil }
      return String(validatingCString: log)
    }

    /// The row number of the last inserted row.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Resets ``lastRow``, to detect the next insertion.
    func forgetLastRow() { sqlite3_set_last_insert_rowid(handle, 0) }

    /// Releases the cached pages that no transaction uses.
    func releasePages() { sqlite3_db_release_memory(handle) }

    /// The number of statements that are between two rows.
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
    /// Returns the statement for a text, prepared once.
    func statement(_ sql: String) throws(SyncError) -> Statement {
      if let known = statements[sql] { return known }
      let made = Statement(
        handle: try prepare(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT)), connection: self)
      statements[sql] = made
      return made
    }

    // No statement is in use between transactions.
    private func forgetStatementsIfMany() {
      guard statements.count > Self.maximumStatements else { return }
      for statement in statements.values { statement.finalize() }
      statements = [:]
    }

    /// Runs one statement that gives no rows and is not cached.
    func execute(_ sql: String) throws(SyncError) {
      let statement = Statement(handle: try prepare(sql, flags: 0), connection: self)
      defer { statement.finalize() }
      while try statement.step() {}
    }

    /// Runs a cached statement that gives no rows.
    func run(_ sql: String, _ parameters: Parameter...) throws(SyncError) {
      let statement = try statement(sql)
      try statement.bind(parameters)
      try statement.run()
    }

    /// Reads the first row of a cached statement; `nil` if it has none.
    func first<Value>(
      _ sql: String, _ parameters: Parameter..., read: (Statement) throws(SyncError) -> Value
    ) throws(SyncError) -> Value? {
      let statement = try statement(sql)
      defer { statement.reset() }
      try statement.bind(parameters)
      return try statement.step() ? try read(statement) : nil
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
    /// Runs a body in a transaction that is committed or rolled back as a whole.
    ///
    /// - Parameter flushes: Whether the transaction is on the disk at return, so that it survives a
    ///   power failure.
    func transaction<R>(
      _ begin: Begin, flushes: Bool = false, _ body: () throws(SyncError) -> R
    ) throws(SyncError) -> R {
      forgetFailure()
      if begin == .write, isReadOnly {
        // SQLite would begin anyway, and fail at the first change.
        throw SQLiteFailure(code: SQLITE_READONLY).error(during: "beginning a transaction")
      }
      forgetStatementsIfMany()
      if begin == .write, flushes != flushesCommits { try setFlushing(flushes) }
      if begin == .write { noteTransaction(isEdit: flushes) }
      if begin == .write, laterCache != nil, hasWrittenMuch { try enlargeCache() }
      try statement(begin.rawValue).run()
      isInTransaction = true
      flushesThisCommit = false
      defer {
        isInTransaction = false
        forgetFailure()
      }
      do {
        let result = try body()
        // A body may have caught a statement's error. This statement then fails like any other.
        try statement("COMMIT").run()
        if flushesThisCommit, !flushesCommits { try flushLog() }
        return result
      } catch {
        forgetFailure()
        // SQLite ends a transaction itself for some failures, such as a full disk.
        if sqlite3_get_autocommit(handle) == 0 {
          // A rollback that fails needs no handling: closing the connection undoes the transaction
          // too.
          try? statement("ROLLBACK").run()
        }
        throw error
      }
    }

    // The setting cannot change inside a transaction.
    private func setFlushing(_ flag: Bool) throws(SyncError) {
      try execute("PRAGMA synchronous = \(flag ? "FULL" : "NORMAL")")
      flushesCommits = flag
    }

    /// Lets the current transaction survive a power failure once it is committed.
    func flushThisCommit() { flushesThisCommit = true }

    private func flushLog() throws(SyncError) {
      let code = csqlite_flush_log(handle)
      guard code != SQLITE_OK else { return }
      throw SQLiteFailure(code: code).withShortage.error(during: "flushing the log")
    }

    /// Whether the app has edited lately. Only its edits are flushed.
    var isBesideEdits: Bool { transactionsBesideEdits > 0 }

    /// The number of transactions after an edit during which another edit is likely.
    ///
    /// A sync needs some tenths of a second for them.
    private static let transactionsAfterEdit = 256

    private func noteTransaction(isEdit: Bool) {
      transactionsBesideEdits = isEdit ? Self.transactionsAfterEdit : max(0, transactionsBesideEdits - 1)
    }

    private func enlargeCache() throws(SyncError) {
      guard let bytes = laterCache else { return }
      try execute("PRAGMA cache_size = -\(bytes / 1024)")
      reserveCache(bytes: bytes)
      laterCache = nil
    }

    // SQLite and the transactions need about as much besides.
    private func reserveCache(bytes: Int) { csqlite_reserve(2 * bytes) }

    /// The ways to begin a transaction.
    enum Begin: String {
      /// A read transaction: its snapshot is taken at the first read.
      case read = "BEGIN DEFERRED"
      /// A write transaction: it takes the write lock at once.
      case write = "BEGIN IMMEDIATE"
    }

    /// Throws if a statement's failure has spoilt the transaction.
    func demandHealth() throws(SyncError) {
      if isSpoilt, let failure { throw failure }
    }

    /// The file's data version, which changes with the commits of other connections.
    func dataVersion() throws(SyncError) -> Int64? {
      try first("PRAGMA data_version") { $0.integer(0) }
    }

    private func forgetFailure() {
      failure = nil
      isSpoilt = false
    }

    /// Spoils the transaction, because the file holds values that this library never writes.
    ///
    /// Values already read may still be used, without effect: the next statement fails, and so does
    /// the commit.
    func noteDamage(_ what: String) {
      guard isInTransaction, failure == nil else { return }
      failure = SyncError(
        .storeUnreadable, during: "running a transaction",
        "The store is damaged: it holds \(what). Nothing of this transaction was kept.")
      isSpoilt = true
    }

    /// Returns the failure of the last call, and spoils the transaction.
    func failed() -> SyncError {
      let error = SQLiteFailure(
        code: sqlite3_extended_errcode(handle), systemError: sqlite3_system_errno(handle)
      ).withShortage.error(during: isInTransaction ? "running a transaction" : "using the store")
      if isInTransaction {
        failure = error
        isSpoilt = true
      }
      return error
    }
  }
#endif
