#if Postgres
  import CanonicalSyncCPostgres

  /// Statements on their way to the server, and their results on the way back.
  ///
  /// They are sent without waiting for earlier results, which come in the same order. Each part of
  /// them ends with a synchronization. There the server sends its results, and begins to count the
  /// time in which the transaction does nothing. After a failure it skips the rest of the part, and
  /// refuses the parts that follow in the same transaction. The failure is kept until
  /// ``synchronize()`` throws it, so a commit behind it does not seem to have succeeded.
  struct Pipeline {
    /// What the server answers, in the order of sending.
    private enum Expected {
      case preparation(sql: String)
      /// A result; its number if it is going to be asked for.
      case result(number: Int?)
      case synchronization
    }

    private let handle: OpaquePointer
    /// A statement that the server keeps.
    private struct Kept {
      let name: String
      var uses = 0
    }

    /// The statements that the server keeps, by their text.
    private var kept: [String: Kept] = [:]
    /// After so many uses a statement is planned anew: its table may have grown since.
    private static let mostUses = 200
    /// The most statements that are kept: an app's queries may be of any number of forms.
    private static let mostKept = 256
    private var nextName = 0
    private var nextNumber = 0
    private var expected: ArraySlice<Expected> = []
    private var results: [Int: ResultRows] = [:]
    private var failure: PostgresFailure?

    /// The beginning of the names of this connection's statements, which no other one has.
    ///
    /// `nil` for a server that is to keep no statements.
    private let prefix: String?

    init(_ handle: OpaquePointer, names prefix: String?) { (self.handle, self.prefix) = (handle, prefix) }

    /// Whether something was sent whose result has not come.
    var isUnderWay: Bool { PQpipelineStatus(handle) != PQ_PIPELINE_OFF }

    // MARK: Sending

    /// Sends a statement, and returns its number.
    ///
    /// - Parameter isWanted: Whether its result is going to be asked for.
    @discardableResult
    mutating func send(_ statement: Statement, isWanted: Bool = false) throws(PostgresFailure) -> Int {
      guard isUnderWay || PQenterPipelineMode(handle) == 1 else { throw .lost }
      var name: String?
      if let prefix, statement.isKept { name = try preparedName(of: statement.sql, prefix) }
      let isSent = statement.parameters.withPointers { values, lengths in
        let count = Int32(lengths.count)
        let formats = [Int32](repeating: 1, count: lengths.count)
        if let name {
          return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
        }
        return PQsendQueryParams(handle, statement.sql, count, nil, values, lengths, formats, 1) == 1
      }
      guard isSent else { throw .lost }
      nextNumber += 1
      expected.append(.result(number: isWanted ? nextNumber : nil))
      return nextNumber
    }

    /// Prepares a statement just before its first use, on the same way.
    private mutating func preparedName(of sql: String, _ prefix: String) throws(PostgresFailure) -> String {
      if var known = kept[sql] {
        known.uses += 1
        if known.uses < Self.mostUses {
          kept[sql] = known
          return known.name
        }
        try forget("\"\(known.name)\"")
      } else if kept.count >= Self.mostKept {
        try forget("ALL")
        kept = [:]
      }
      nextName += 1
      let name = "\(prefix)_\(nextName)"
      guard PQsendPrepare(handle, name, sql, 0, nil) == 1 else { throw .lost }
      kept[sql] = Kept(name: name)
      expected.append(.preparation(sql: sql))
      return name
    }

    private mutating func forget(_ names: String) throws(PostgresFailure) {
      let sql = "DEALLOCATE \(names)"
      guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw .lost }
      expected.append(.result(number: nil))
    }

    /// Ends a part, and passes it on without waiting for results.
    mutating func push() throws(PostgresFailure) {
      // libpq reads what arrives while it waits for room, so neither side waits for the other.
      guard isUnderWay, PQpipelineSync(handle) == 1 else { throw .lost }
      expected.append(.synchronization)
    }

    // MARK: Receiving

    /// Waits for the results of all that was sent, and throws the first failure.
    mutating func synchronize() throws(PostgresFailure) {
      guard isUnderWay else { return }
      switch expected.last {
      case .synchronization: break
      case .preparation, .result, nil: try push()
      }
      while !expected.isEmpty { try receive() }
      guard PQexitPipelineMode(handle) == 1 else { throw .lost }
      guard let failure else { return }
      self.failure = nil
      throw failure
    }

    /// Waits for the results of all that was sent, unless the server is silent for some time.
    ///
    /// - Parameter milliseconds: How long it may be silent.
    mutating func finish(silence milliseconds: Int32) {
      guard isUnderWay, (try? push()) != nil else { return }
      while !expected.isEmpty {
        if PQisBusy(handle) == 1 {
          guard cpostgres_wait(handle, 0, milliseconds) > 0, PQconsumeInput(handle) == 1 else { return }
        } else {
          guard (try? receive()) != nil else { return }
        }
      }
    }

    /// Waits for the result of a statement that was pushed.
    mutating func result(of number: Int) throws(PostgresFailure) -> ResultRows {
      while true {
        if let rows = results.removeValue(forKey: number) { return rows }
        if let failure { throw failure }
        guard !expected.isEmpty else { throw .lost }
        try receive()
      }
    }

    /// Forgets results that were not asked for.
    mutating func forgetResults() { results = [:] }

    private mutating func receive() throws(PostgresFailure) {
      let result = PQgetResult(handle)
      let status = PQresultStatus(result)
      let isDone = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
      if !isDone, status != PGRES_PIPELINE_ABORTED, status != PGRES_PIPELINE_SYNC, failure == nil {
        failure = PostgresFailure(of: result, on: handle)
      }
      guard PQstatus(handle) == CONNECTION_OK, result != nil else {
        PQclear(result)
        throw (failure ?? .lost).losingConnection
      }
      switch expected.removeFirst() {
      case .synchronization:
        PQclear(result)
        guard status == PGRES_PIPELINE_SYNC else { throw (failure ?? .lost).losingConnection }
        return
      case .preparation(let sql):
        if !isDone { kept[sql] = nil }
        PQclear(result)
      case .result(let number):
        if isDone, let number, let result {
          results[number] = ResultRows(result)
        } else {
          PQclear(result)
        }
      }
      // Each result but that of a synchronization ends with nothing.
      while let more = PQgetResult(handle) { PQclear(more) }
    }
  }

  extension PostgresFailure {
    static let lost = PostgresFailure(state: "", isConnectionLost: true)

    /// The failure, after which the connection is lost too.
    fileprivate var losingConnection: PostgresFailure {
      var failure = self
      failure.isConnectionLost = true
      return failure
    }

    /// The failure that a result reports.
    init(of result: OpaquePointer?, on handle: OpaquePointer) {
      self.init(
        state: cpostgres_state(result).map { String(cString: $0) } ?? "",
        isConnectionLost: PQstatus(handle) != CONNECTION_OK)
      isOfStatementPooling = cpostgres_refuses_transactions(result) != 0
    }
  }
#endif
