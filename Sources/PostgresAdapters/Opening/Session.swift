#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  /// The session at the server that a connection has set up.
  ///
  /// A pooler may lend a connection another session for each transaction, in which the settings,
  /// prepared statements and locks are those of other clients, and names mean another store's
  /// tables. So each session gets a mark of its connection, which each transaction compares. For a
  /// store of a ``PostgresPool``, each transaction sets its session up, and nothing is kept in it.
  struct Session {
    /// The connection's own name, which is the mark.
    let name: String
    /// The mark and the schema, as ``expression`` gives them in a session that is kept.
    fileprivate let mark: String
    /// What the server calls itself, such as `PostgreSQL 17.2`.
    let server: String
    /// Whether the process at the server is not the one that answered the connection.
    let isPooled: Bool

    /// The mark and the schema of the session in which a statement runs.
    static let expression = """
      (coalesce(current_setting('canonicalsync.session', true), '') || ' ' || current_setting('search_path'))
      """

    /// Sets a new connection up.
    ///
    /// - Throws: `invalidConfiguration` for a session that another connection has set up, or a
    ///   server that does not know the settings.
    init(on handle: OpaquePointer, _ settings: ConnectionSettings) throws(PostgresFailure) {
      let name = (0..<4).map { _ in String(UInt32.random(in: 0...UInt32.max), radix: 36) }.joined()
      let setUp = settings.isLent ? "" : "SET canonicalsync.session = '\(name)'; \(settings.preparation); "
      let sql = """
        SELECT version(), pg_backend_pid(), coalesce(current_setting('canonicalsync.session', true), ''); \
        \(setUp)SELECT \(Self.expression)
        """
      guard PQsendQuery(handle, sql) == 1 else { throw .lost }
      var rows: [[String]] = []
      var failure: PostgresFailure?
      while let result = PQgetResult(handle) {
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK where PQntuples(result) > 0:
          rows.append((0..<PQnfields(result)).map { String(cString: PQgetvalue(result, 0, $0)) })
        case PGRES_COMMAND_OK: break
        default: failure = failure ?? PostgresFailure(of: result, on: handle)
        }
      }
      let facts = rows.first ?? []
      server = Self.name(in: facts.first ?? "")
      if let failure {
        if failure.isConnectionLost { throw failure }
        if server.hasPrefix("PostgreSQL "), failure.meaning != .storeFailure { throw failure }
        throw Self.lacking("settings of PostgreSQL (SQLSTATE \(failure.state))", at: server)
      }
      guard facts.count == 3, rows.count == 2, let mark = rows.last?.first else {
        throw Self.lacking("answers of PostgreSQL", at: server)
      }
      guard settings.isLent || facts[2].isEmpty else { throw Self.shared }
      (self.name, self.mark) = (name, mark)
      isPooled = Int32(facts[1]) != PQbackendPID(handle)
    }

    /// The words before the platform in what `version()` gives.
    private static func name(in text: String) -> String {
      let end = [" on ", " ("].compactMap { text.firstRange(of: $0)?.lowerBound }.min() ?? text.endIndex
      let name = text[..<end].prefix(60)
      return name.isEmpty ? "A server without a name" : String(name)
    }

    // MARK: Refusals

    /// The refusal of a session that serves other connections too.
    static let shared = PostgresFailure(
      state: "", isConnectionLost: false,
      connecting: """
        A pooler between the store and PostgreSQL, such as PgBouncer with pool_mode = transaction, gives \
        transactions sessions of other connections, so this store could read and write another one's records. \
        Connect to the server itself, or to a pooler that keeps sessions (pool_mode = session). A PostgresPool \
        also works with a pooler that keeps a session for each transaction, but not for each statement alone.
        """, code: .invalidConfiguration)

    /// The refusal of a server that only speaks PostgreSQL's protocol.
    static func lacking(_ what: String, at server: String) -> PostgresFailure {
      PostgresFailure(
        state: "", isConnectionLost: false,
        connecting: """
          \(server) lacks \(what), which a store needs; use a PostgreSQL server of version 13 or later.
          """, code: .invalidConfiguration)
    }
  }

  extension Connection {
    /// The number of the server's history, which a standby that takes over begins anew.
    ///
    /// It is the one of the log that is written now: after a promotion, the control file has the
    /// former one until the next checkpoint.
    func timeline() throws(SyncError) -> Int64 {
      if let knownTimeline { return knownTimeline }
      let sql = """
        SELECT CASE WHEN pg_is_in_recovery() \
        THEN (SELECT min_recovery_end_timeline::bigint FROM pg_control_recovery()) \
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END
        """
      let found = try query(Statement(sql, isKept: false), during: "reading the server's timeline").first
      let number = found?.integer(0) ?? 0
      // A pooler may connect to another server meanwhile.
      if !(settings.isLent && session?.isPooled == true) { knownTimeline = number }
      return number
    }

    /// A statement that fails, and so ends its transaction, in the session of another connection.
    var sessionGuard: Statement {
      Statement("SELECT 1 / (\(Session.expression) = $1::text)::int") { $0.add(text: sessionMark) }
    }

    /// The mark and the schema that each transaction has to find.
    var sessionMark: String {
      guard let session else { return "" }
      return settings.isLent ? "\(session.name) \(settings.searchPath)" : session.mark
    }

    /// Notes that a transaction runs in the session of another connection.
    ///
    /// - Returns: The error that ends it.
    func refuseSession() -> SyncError {
      failure = Session.shared
      return Session.shared.error(during: "beginning a transaction")
    }

    /// The error for a failure, which a pooler may have caused.
    ///
    /// A session of another connection lacks prepared statements and tables.
    func explained(_ error: SyncError) -> SyncError {
      // One that keeps a session for each transaction is enough for a pool.
      let ofPoolers = ["22012"] + (settings.isLent ? [] : ["26000", "42P05", "42P01", "42883", "3F000"])
      guard session?.isPooled == true, let failure,
        failure.isOfStatementPooling || ofPoolers.contains(failure.state)
      else { return error }
      return refuseSession()
    }

    /// Refuses a server without the locks or the notifications of PostgreSQL.
    func demandServer(isReadOnly: Bool) throws(SyncError) {
      // What it takes ends with it.
      defer { rollback() }
      let lock = Int64.random(in: 1...Int64.max)
      var lacking = "advisory locks"
      do throws(SyncError) {
        enqueue(Statement("BEGIN", isKept: false))
        enqueue(Statement("SELECT pg_try_advisory_xact_lock(\(lock))", isKept: false))
        let held = try query(
          Statement(
            """
            SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), \
            pg_is_in_recovery(), \
            has_function_privilege('pg_catalog.pg_logical_emit_message(boolean,text,text)', 'EXECUTE')
            """, isKept: false), during: "opening the store"
        ).first
        guard let held, held.bool(0) else {
          throw Session.lacking(lacking, at: session?.server ?? "").error(during: "opening the store")
        }
        guard isReadOnly || held.bool(2) else {
          throw SyncError(
            .permissionDenied, during: "opening the store",
            """
            The role may not call pg_logical_emit_message, by which a commit waits until it is on the disk: \
            GRANT EXECUTE ON FUNCTION pg_catalog.pg_logical_emit_message(boolean, text, text) TO the role.
            """)
        }
        // A standby has neither, until it takes over.
        if held.bool(1) { return }
        lacking = "LISTEN and NOTIFY"
        enqueue(Statement("LISTEN \(settings.channel)", isKept: false))
        enqueue(Statement("UNLISTEN \(settings.channel)", isKept: false))
        try flush(during: "opening the store")
      } catch {
        let error = explained(error)
        let state = failure?.state ?? ""
        guard state != "42501", state.hasPrefix("42") || state.hasPrefix("0A") else { throw error }
        throw Session.lacking(lacking, at: session?.server ?? "").error(during: "opening the store")
      }
    }
  }
#endif
