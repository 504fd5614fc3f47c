#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  /// A connection to the server, used by one thread at a time.
  ///
  /// Writes wait in ``pending``, and go to the server together with the next statement whose result
  /// is needed. A lost connection is opened again by ``open()``.
  final class Connection {
    /// What is known of the store whose transactions the connection runs.
    var memory: StoreMemory
    private var handle: OpaquePointer?
    private var pipeline: Pipeline?
    /// The session at the server, of an open connection.
    private(set) var session: Session?
    /// Whether the call that uses the connection has given up.
    var isAbandoned: (@Sendable () -> Bool)?
    private var pending: [Statement] = []
    /// The first failure of the transaction; it decides whether the transaction is run again.
    var failure: PostgresFailure?
    /// The number of connections so far, also of those that failed.
    private(set) var generation = 0
    /// The server's timeline, as an open connection was told.
    var knownTimeline: Int64?
    private var wasOpen = false
    /// The number of statements so far.
    private(set) var statementCount = 0
    /// The fencing numbers of leases whose locks this connection keeps.
    var heldFences: Set<Int64> = []
    /// How far the transaction has come.
    var transaction = TransactionState.none

    init(_ memory: StoreMemory) { self.memory = memory }

    deinit { close() }

    /// Closes the connection, after its leases have become free.
    ///
    /// The server notices a closed connection only some time later, and until then the next one who
    /// asks for a lease would find a holder that lives. A server that is silent for a second is not
    /// waited for.
    func end() {
      if isOpen, !heldFences.isEmpty {
        for fence in heldFences {
          let lock = settings.holderLock(fence)
          _ = try? pipeline?.send(Statement("SELECT pg_advisory_unlock(\(lock))", isKept: false))
        }
        pipeline?.finish(silence: 1000)
      }
      close()
    }

    func close() {
      if let handle { PQfinish(handle) }
      (handle, pipeline, session, knownTimeline) = (nil, nil, nil, nil)
    }

    var isOpen: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

    // MARK: Opening

    /// Opens the connection if it is not open.
    func open() throws(PostgresFailure) {
      if isOpen { return }
      close()
      pending = []
      memory.cache = StoreCache()
      generation += 1
      guard let made = settings.connect(unless: { isAbandoned?() == true }) else {
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
        try prepare(made)
      } catch {
        close()
        throw error
      }
    }

    private func prepare(_ handle: OpaquePointer) throws(PostgresFailure) {
      if wasOpen { memory.losses.add() }
      wasOpen = true
      let session = try Session(on: handle, settings)
      self.session = session
      pipeline = Pipeline(handle, names: settings.isLent ? nil : session.name)
      // The locks that show that holders of leases live ended with the former connection.
      for fence in heldFences {
        try pipeline?.send(
          Statement("SELECT pg_try_advisory_lock(\(settings.holderLock(fence)))", isKept: false))
      }
      try pipeline?.synchronize()
    }

    // MARK: Stores

    var settings: ConnectionSettings { memory.settings }

    var cache: StoreCache {
      get { memory.cache }
      _modify { yield &memory.cache }
    }

    /// The number of the last commit of the store's writer.
    var token: Int64 {
      get { memory.token }
      set { memory.token = newValue }
    }

    /// Takes over what is known of a store, for its next transactions.
    func enter(_ memory: StoreMemory) {
      self.memory = memory
      self.memory.renew()
    }

    /// The time after which the server ends a transaction that does nothing.
    func setIdleTimeout(_ milliseconds: Int64) {
      if settings.isLent {
        memory.settings.idleMilliseconds = milliseconds
      } else {
        enqueue(Statement("SET idle_in_transaction_session_timeout = \(milliseconds)", isKept: false))
      }
    }

    // MARK: Statements

    /// Sends a statement with the next one whose result is needed.
    func enqueue(_ statement: Statement) { pending.append(statement) }

    /// Sends statements with the next one whose result is needed.
    func enqueue(_ statements: [Statement]) { pending += statements }

    /// Runs a statement after those that wait, in one round trip.
    func query(_ statement: Statement, during operation: @autoclosure () -> String) throws(SyncError)
      -> ResultRows
    {
      let numbers = try send([statement], during: operation())
      return try result(of: numbers[0], during: operation())
    }

    /// Sends the statements that wait, and waits for all results.
    func flush(during operation: @autoclosure () -> String) throws(SyncError) {
      try send([], during: operation())
      try inPipeline(during: operation()) { (pipeline) throws(PostgresFailure) in
        try pipeline.synchronize()
      }
    }

    /// Sends statements after those that wait, and returns their numbers.
    ///
    /// The server runs them at once. Their results can be asked for one by one. The beginning of
    /// the transaction goes first, unless it has begun.
    @discardableResult
    func send(_ statements: [Statement], during operation: @autoclosure () -> String) throws(SyncError)
      -> [Int]
    {
      let start = transaction.start
      if start == nil, pending.isEmpty, statements.isEmpty { return [] }
      if let kind = transaction.aloneRead {
        memory.forecasts.countMiss(kind)
        throw outdate()
      }
      let waiting = pending
      pending = []
      statementCount += waiting.count + statements.count + (start.map { $0.begin.count + 1 } ?? 0)
      var row: Int?
      let numbers = try inPipeline(during: operation()) { (pipeline) throws(PostgresFailure) -> [Int] in
        if let start {
          for statement in start.begin { try pipeline.send(statement) }
          row = try pipeline.send(start.readHeader, isWanted: true)
        }
        for statement in waiting { try pipeline.send(statement) }
        var numbers: [Int] = []
        for statement in statements {
          numbers.append(try pipeline.send(statement, isWanted: true))
          try pipeline.push()
        }
        if statements.isEmpty { try pipeline.push() }
        return numbers
      }
      if let start, let row { try compare(start, with: try result(of: row, during: operation()).first) }
      return numbers
    }

    /// Waits for the result of a statement that was sent.
    func result(of number: Int, during operation: @autoclosure () -> String) throws(SyncError) -> ResultRows {
      try inPipeline(during: operation()) { (pipeline) throws(PostgresFailure) in
        try pipeline.result(of: number)
      }
    }

    private func inPipeline<R>(
      during operation: @autoclosure () -> String,
      _ body: (inout Pipeline) throws(PostgresFailure) -> R
    ) throws(SyncError) -> R {
      do throws(PostgresFailure) {
        guard isOpen, pipeline != nil else { throw .lost }
        return try body(&pipeline!)
      } catch {
        if failure == nil { failure = error }
        // A server that ends may fail at a statement before it ends the connection.
        if error.isConnectionLost { failure?.isConnectionLost = true }
        throw error.error(during: operation())
      }
    }

    /// Whether statements wait to be sent.
    var hasPending: Bool { !pending.isEmpty }

    /// Forgets the statements that wait.
    func dropPending() { pending = [] }

    /// Forgets the transaction that has ended, and the results that were not asked for.
    func forgetTransaction() {
      transaction = .none
      pipeline?.forgetResults()
    }

    /// Ends the open transaction, whatever its state.
    func rollback() {
      pending = []
      forgetTransaction()
      guard let handle, PQstatus(handle) == CONNECTION_OK else { return }
      // The failure is known. What follows it tells nothing new.
      try? pipeline?.synchronize()
      if pipeline?.isUnderWay != false { return close() }
      if PQtransactionStatus(handle) == PQTRANS_IDLE { return }
      PQclear(PQexec(handle, "ROLLBACK"))
      // A transaction whose end is unknown must not go on.
      if PQtransactionStatus(handle) != PQTRANS_IDLE { close() }
    }

    /// A way to cancel the running statement from any thread.
    var cancellation: StatementCancellation? { handle.flatMap { StatementCancellation($0) } }

    // MARK: Notifications

    /// A descriptor that is readable when the server has sent something; the caller closes it.
    func socketCopy() -> Int32? {
      handle.map { cpostgres_duplicate($0) }.flatMap { $0 < 0 ? nil : $0 }
    }

    /// The channels of the notifications that have come; `nil` if the connection is lost.
    func notifications() -> Set<String>? {
      // A notification behind a result is not heard before the result is taken.
      guard let handle, (try? pipeline?.synchronize()) != nil else {
        close()
        return nil
      }
      let ready = cpostgres_wait(handle, 0, 0)
      if ready < 0 { return nil }
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
        close()
        return nil
      }
      var channels: Set<String> = []
      while let notification = PQnotifies(handle) {
        channels.insert(String(cString: notification.pointee.relname))
        PQfreemem(notification)
      }
      return channels
    }
  }
#endif
