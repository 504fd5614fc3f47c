#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  /// One statement and its parameters.
  struct Statement {
    var sql: String
    var parameters = Parameters()
    /// Whether the server keeps the statement, and its plan, for the next time.
    var isKept = true

    init(_ sql: String, _ parameters: Parameters = Parameters(), isKept: Bool = true) {
      self.sql = sql
      self.parameters = parameters
      self.isKept = isKept
    }

    init(_ sql: String, isKept: Bool = true, _ fill: (inout Parameters) -> Void) {
      self.init(sql, isKept: isKept)
      fill(&parameters)
    }
  }

  /// A connection to the server, used by one thread at a time.
  ///
  /// Writes wait in ``pending``, and go to the server together with the next statement whose result
  /// is needed. A lost connection is opened again by ``open()``.
  final class Connection {
    let settings: ConnectionSettings
    private var handle: OpaquePointer?
    private var names: [String: String] = [:]
    private var nextName = 0
    private var pending: [Statement] = []
    /// The first failure of the transaction; it decides whether the transaction is run again.
    var failure: PostgresFailure?
    /// The number of connections so far.
    private(set) var generation = 0
    /// The number of statements so far.
    private(set) var statementCount = 0
    /// The fencing numbers of leases whose locks this connection keeps.
    var heldFences: Set<Int64> = []
    var cache = StoreCache()
    /// The beginning of the transaction, until it goes to the server.
    var start: TransactionStart?
    /// The store's row as the transaction found it.
    var opening = Opening()
    /// Whether the transaction saw something that another one had changed, and must run again.
    var hasChanged = false
    /// The number of the last commit of this connection's writer.
    var token: Int64 = 0

    init(_ settings: ConnectionSettings) { self.settings = settings }

    deinit { close() }

    func close() {
      if let handle { PQfinish(handle) }
      handle = nil
    }

    var isOpen: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

    // MARK: Opening

    /// Opens the connection if it is not open.
    func open() throws(PostgresFailure) {
      if isOpen { return }
      close()
      names = [:]
      pending = []
      cache = StoreCache()
      generation += 1
      guard let made = settings.connect() else {
        throw PostgresFailure(
          state: "", isConnectionLost: true,
          connecting: "The PostgreSQL server did not answer within the connect timeout.")
      }
      guard PQstatus(made) == CONNECTION_OK else {
        defer { PQfinish(made) }
        throw settings.failure(of: made)
      }
      handle = made
      do throws(PostgresFailure) {
        _ = try exchange([Statement(settings.preparation, isKept: false)], asOneText: true)
        // The locks that show that holders of leases live ended with the former connection.
        for fence in heldFences {
          _ = try exchange([
            Statement("SELECT pg_try_advisory_lock(\(settings.holderLock(fence)))", isKept: false)
          ])
        }
      } catch {
        close()
        throw error
      }
    }

    // MARK: Statements

    /// Sends a statement with the next one whose result is needed.
    func enqueue(_ statement: Statement) { pending.append(statement) }

    /// Runs a statement after those that wait, in one round trip.
    func query(_ statement: Statement, during operation: @autoclosure () -> String) throws(SyncError)
      -> ResultRows
    {
      pending.append(statement)
      guard let rows = try flush(during: operation()).last else {
        throw PostgresFailure(state: "", isConnectionLost: true).error(during: operation())
      }
      return rows
    }

    /// Sends the statements that wait, and returns their results.
    @discardableResult
    func flush(during operation: @autoclosure () -> String) throws(SyncError) -> [ResultRows] {
      if pending.isEmpty, start == nil { return [] }
      var statements = pending
      pending = []
      let start = start
      self.start = nil
      if let start { statements.insert(contentsOf: [start.begin, start.opening], at: 0) }
      let results: [ResultRows]
      do throws(PostgresFailure) {
        results = try exchange(statements)
      } catch {
        if failure == nil { failure = error }
        // A table or a column that is gone, by the registration of another server.
        if start != nil, error.state.hasPrefix("42") { hasChanged = true }
        throw error.error(during: operation())
      }
      guard let start else { return results }
      guard results.count >= 2 else {
        throw PostgresFailure(state: "", isConnectionLost: true).error(during: operation())
      }
      try compare(start, with: results[1])
      return Array(results.dropFirst(2))
    }

    /// Whether statements wait to be sent.
    var hasPending: Bool { !pending.isEmpty }

    /// Forgets the statements that wait.
    func dropPending() { pending = [] }

    /// Ends the open transaction, whatever its state.
    func rollback() {
      pending = []
      start = nil
      guard let handle, PQstatus(handle) == CONNECTION_OK else { return }
      if PQtransactionStatus(handle) == PQTRANS_IDLE { return }
      PQclear(PQexec(handle, "ROLLBACK"))
      // A transaction whose end is unknown must not go on.
      if PQtransactionStatus(handle) != PQTRANS_IDLE { close() }
    }

    /// A way to cancel the running statement from any thread.
    var cancellation: StatementCancellation? { handle.flatMap { StatementCancellation($0) } }

    // MARK: Notifications

    /// Waits for a notification; false if none came, `nil` if the connection is lost.
    func waitForNotification(milliseconds: Int32) -> Bool? {
      guard let handle else { return nil }
      let ready = cpostgres_wait(handle, milliseconds)
      if ready < 0 { return nil }
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
        close()
        return nil
      }
      var hasCome = false
      while let notification = PQnotifies(handle) {
        hasCome = true
        PQfreemem(notification)
      }
      return hasCome
    }

    // MARK: The exchange

    private func exchange(
      _ statements: [Statement], asOneText: Bool = false
    ) throws(PostgresFailure) -> [ResultRows] {
      guard let handle, PQstatus(handle) == CONNECTION_OK else {
        throw PostgresFailure(state: "", isConnectionLost: true)
      }
      statementCount += statements.count
      if asOneText {
        let result = PQexec(handle, statements[0].sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else { throw failure(of: result) }
        return []
      }
      guard PQenterPipelineMode(handle) == 1 else { throw lost() }
      defer { _ = PQexitPipelineMode(handle) }
      // A kept statement is prepared just before its first use, in the same round trip.
      var isWanted: [Bool] = []
      var fresh: [String] = []
      for statement in statements {
        if statement.isKept, names[statement.sql] == nil {
          nextName += 1
          names[statement.sql] = "s\(nextName)"
          fresh.append(statement.sql)
          isWanted.append(false)
          guard PQsendPrepare(handle, "s\(nextName)", statement.sql, 0, nil) == 1 else { throw lost() }
        }
        isWanted.append(true)
        guard send(statement, on: handle) else { throw lost() }
      }
      guard PQpipelineSync(handle) == 1 else { throw lost() }
      do throws(PostgresFailure) {
        return try receive(isWanted, on: handle)
      } catch {
        for sql in fresh { names[sql] = nil }
        throw error
      }
    }

    private func send(_ statement: Statement, on handle: OpaquePointer) -> Bool {
      statement.parameters.withPointers { values, lengths, formats in
        let count = Int32(lengths.count)
        if statement.isKept, let name = names[statement.sql] {
          return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
        }
        return PQsendQueryParams(handle, statement.sql, count, nil, values, lengths, formats, 1) == 1
      }
    }

    /// Receives the results of what was sent, and throws the first failure.
    private func receive(_ isWanted: [Bool], on handle: OpaquePointer) throws(PostgresFailure) -> [ResultRows]
    {
      var results: [ResultRows] = []
      var first: PostgresFailure?
      var place = 0
      var gaps = 0
      while true {
        guard let result = PQgetResult(handle) else {
          // One result ends with nothing. More in a row mean that no more will come.
          gaps += 1
          if gaps > 2 || PQstatus(handle) != CONNECTION_OK { break }
          continue
        }
        gaps = 0
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
          PQclear(result)
          if let first { throw first }
          return results
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
          if place < isWanted.count, isWanted[place] {
            results.append(ResultRows(result))
          } else {
            PQclear(result)
          }
          place += 1
        case PGRES_PIPELINE_ABORTED:
          PQclear(result)
          place += 1
        default:
          if first == nil { first = failure(of: result) }
          PQclear(result)
          place += 1
        }
      }
      close()
      throw PostgresFailure(state: first?.state ?? "", isConnectionLost: true)
    }

    private func failure(of result: OpaquePointer?) -> PostgresFailure {
      let state = cpostgres_state(result).map { String(cString: $0) } ?? ""
      return PostgresFailure(
        state: state, isConnectionLost: handle.map { PQstatus($0) != CONNECTION_OK } ?? true)
    }

    private func lost() -> PostgresFailure { PostgresFailure(state: "", isConnectionLost: true) }
  }

  /// Cancels the statement that a connection runs, from any thread.
  final class StatementCancellation: Sendable {
    // libpq documents that this object may be used on any thread, beside the connection.
    private nonisolated(unsafe) let handle: OpaquePointer

    init?(_ connection: OpaquePointer) {
      guard let handle = PQgetCancel(connection) else { return nil }
      self.handle = handle
    }

    deinit { PQfreeCancel(handle) }

    func cancel() {
      var words = [CChar](repeating: 0, count: 256)
      _ = PQcancel(handle, &words, Int32(words.count))
    }
  }

  extension Parameters {
    /// Calls a body with the addresses, lengths and formats of all values.
    fileprivate func withPointers<R>(
      _ body: (UnsafePointer<UnsafePointer<CChar>?>?, [Int32], [Int32]) -> R
    ) -> R {
      let lengths = values.map { Int32(truncatingIfNeeded: $0?.count ?? 0) }
      let formats = [Int32](repeating: 1, count: values.count)
      var pointers = [UnsafePointer<CChar>?](repeating: nil, count: values.count)
      return withPointers(from: 0, &pointers) { body($0, lengths, formats) }
    }

    private func withPointers<R>(
      from place: Int, _ pointers: inout [UnsafePointer<CChar>?],
      _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
    ) -> R {
      guard place < values.count else { return pointers.withUnsafeBufferPointer { body($0.baseAddress) } }
      guard let value = values[place] else { return withPointers(from: place + 1, &pointers, body) }
      return value.withUnsafeBytes { bytes in
        // An empty array may have no address, which libpq takes for NULL.
        pointers[place] = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyValue
        return withPointers(from: place + 1, &pointers, body)
      }
    }
  }

  // The address of an empty value; nothing is read from it.
  private nonisolated(unsafe) let emptyValue = UnsafePointer(
    UnsafeMutablePointer<CChar>.allocate(capacity: 1))
#endif
