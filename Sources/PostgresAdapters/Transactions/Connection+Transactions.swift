#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels
  import SyncPorts
  import Synchronization

  /// The attempts of one transaction, which runs again after a lost connection or a deadlock.
  private struct Attempts {
    private let patience: Duration
    private var lostSince: ContinuousClock.Instant?
    private var pause: Int32 = 20
    private var contentions = 0

    private static let maximumContentions = 20

    /// - Parameter patience: How long to try to connect again.
    init(patience: Duration) { self.patience = patience }

    /// Whether to run the transaction again, after a pause.
    mutating func goOn(after failure: PostgresFailure) -> Bool {
      if failure.isConnectionLost {
        let since = lostSince ?? ContinuousClock.now
        lostSince = since
        guard ContinuousClock.now - since < patience else { return false }
        cpostgres_pause(pause)
        pause = min(500, pause * 2)
        return true
      }
      guard failure.isContention, contentions < Self.maximumContentions else { return false }
      contentions += 1
      cpostgres_pause(Int32.random(in: 1...10))
      return true
    }
  }

  extension Connection {
    private static let isolated = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let writing = Statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    private static let commit = Statement("COMMIT", isKept: false)

    /// Runs a body over one snapshot.
    func read<R>(
      _ context: TransactionContext, _ body: (PostgresSnapshot) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try attempting { (isFirst) throws(SyncError) -> R in
        if isFirst, let known = remembered(context) {
          return try read(from: known, context, isCurrent: false, body)
        }
        enqueue(Self.isolated)
        try open(context, by: Opening.statement(settings.writer))
        return try endingRead(try body(PostgresSnapshot(on: self)))
      }
    }

    /// Runs a body that sees a remembered row, as long as it needs no statement.
    ///
    /// - Parameter isCurrent: Whether the row was read after the call began.
    private func read<R>(
      from known: Opening, _ context: TransactionContext, isCurrent: Bool,
      _ body: (PostgresSnapshot) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      let statement = Opening.statement(settings.writer)
      cache.kept.enter(known.keptVersion)
      start = TransactionStart(
        begin: Self.isolated, opening: statement, assumed: known, used: [], layout: context.layout)
      let result = run { () throws(SyncError) -> R in try body(PostgresSnapshot(on: self)) }
      guard let start else {
        if hasChanged { throw changed }
        return try endingRead(try result.get())
      }
      self.start = nil
      if isCurrent { return try result.get() }
      let now = try Opening(query(statement, during: "reading the store"), layout: context.layout)
      cache.opening = now
      if start.assumed.equals(now, in: start.used) { return try result.get() }
      guard let now = remembered(context) else {
        hasChanged = true
        throw changed
      }
      return try read(from: now, context, isCurrent: true, body)
    }

    private func endingRead<R>(_ result: R) throws(SyncError) -> R {
      // Nothing depends on the end of a snapshot: it goes with the next statements.
      enqueue(Self.commit)
      try flush(during: "ending a read")
      cache.opening = opening
      return result
    }

    /// Runs a body as one transaction that writes, after all that began before it.
    func write<R>(
      _ context: TransactionContext, _ authority: WriteAuthority,
      _ body: (PostgresTransaction) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      var unsettled: (token: Int64, result: R)?
      return try attempting { (isFirst) throws(SyncError) -> R in
        if isFirst, let known = remembered(context), known.token == token, allows(authority, by: known) {
          cache.kept.enter(known.keptVersion)
          start = TransactionStart(
            begin: Self.writing, opening: Opening.statement(settings.writer, underLock: settings.writeLock),
            assumed: known, used: .all, layout: context.layout)
        } else {
          try openToWrite(context)
          if let former = unsettled, opening.token == former.token {
            // The connection was lost while the transaction was being committed, and it was.
            token = former.token
            rollback()
            return former.result
          }
          unsettled = nil
          try demandMemory(of: opening, authority)
          try opening.demand(authority)
        }
        let transaction = PostgresTransaction(on: self)
        let outcome = run { () throws(SyncError) -> R in try body(transaction) }
        if hasChanged { throw changed }
        let next = token + 1
        if let start {
          // The body has read nothing from the server.
          guard case .success(let result) = outcome, transaction.hasWritten else {
            return try settle(outcome, of: start, context)
          }
          if !hasPending, transaction.writesKeptValuesAlone {
            unsettled = (next, result)
            do throws(SyncError) {
              return try commit(transaction, keepingBy: start, result)
            } catch {
              if failure?.isConnectionLost != true { unsettled = nil }
              throw error
            }
          }
          // The row is compared before anything is committed.
          try flush(during: "beginning a transaction")
        }
        let result = try outcome.get()
        transaction.close(token: next)
        enqueue(Self.commit)
        if transaction.hasWritten { unsettled = (next, result) }
        do throws(SyncError) {
          try flush(during: "committing")
        } catch {
          if failure?.isConnectionLost != true { unsettled = nil }
          throw error
        }
        hasCommitted(transaction, opening, next)
        if transaction.hasPosition { context.positions.add() }
        return result
      }
    }

    /// Ends a transaction that wrote nothing and needed no statement.
    private func settle<R>(
      _ outcome: Result<R, SyncError>, of start: TransactionStart, _ context: TransactionContext
    ) throws(SyncError) -> R {
      self.start = nil
      dropPending()
      let rows = try query(Opening.statement(settings.writer), during: "reading the store")
      try compare(start, with: rows)
      cache.opening = opening
      return try outcome.get()
    }

    /// Commits a transaction that writes nothing but kept values, by one statement.
    private func commit<R>(
      _ transaction: PostgresTransaction, keepingBy start: TransactionStart, _ result: R
    ) throws(SyncError) -> R {
      self.start = nil
      let next = token + 1
      let rows = try query(transaction.keeping(by: start.assumed, token: next), during: "committing")
      guard rows.first?.bool(0) == true else {
        hasChanged = true
        throw changed
      }
      hasCommitted(transaction, start.assumed, next)
      return result
    }

    /// Remembers the row as a commit has left it.
    private func hasCommitted(_ transaction: PostgresTransaction, _ former: Opening, _ next: Int64) {
      var now = former
      if transaction.hasWritten {
        token = next
        now.token = next
      }
      if transaction.changesKeptValues {
        cache.kept.rise()
        now.keptVersion += 1
      }
      if transaction.hasPosition { now.position += 1 }
      cache.opening = transaction.areCountsCurrent ? now : nil
    }

    /// The row that the last transaction left, if the types are as it found them.
    private func remembered(_ context: TransactionContext) -> Opening? {
      guard let known = cache.opening, known.catalog == cache.catalog.version,
        context.declarations.generation == cache.catalog.generation
      else { return nil }
      return known
    }

    private func allows(_ authority: WriteAuthority, by opening: Opening) -> Bool {
      // A refusal has to come from the row as it is now.
      (try? opening.demand(authority)) != nil
    }

    private func run<R>(_ body: () throws(SyncError) -> R) -> Result<R, SyncError> {
      do throws(SyncError) {
        return .success(try body())
      } catch {
        return .failure(error)
      }
    }

    /// Runs a body that changes the lease or the layout, after earlier writes.
    func change<R>(
      _ context: TransactionContext, _ body: (Opening) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try attempting { (_) throws(SyncError) -> R in
        try openToWrite(context)
        // The body changes the row.
        cache.opening = nil
        let result = try body(opening)
        enqueue(Self.commit)
        try flush(during: "committing")
        return result
      }
    }

    // MARK: Beginning

    /// Begins a transaction, waits for earlier writes, and reads the store's row.
    private func openToWrite(_ context: TransactionContext) throws(SyncError) {
      enqueue(Self.writing)
      try open(context, by: Opening.statement(settings.writer, underLock: settings.writeLock))
    }

    private func open(_ context: TransactionContext, by statement: Statement) throws(SyncError) {
      let rows = try query(statement, during: "beginning a transaction")
      opening = try Opening(rows, layout: context.layout)
      try refreshCatalog(opening.catalog, context.declarations)
      cache.kept.enter(opening.keptVersion)
    }

    /// Notices a server that lost the last commits, as a standby may that took over.
    private func demandMemory(of opening: Opening, _ authority: WriteAuthority) throws(SyncError) {
      let isLost = opening.token < token
      token = opening.token
      guard isLost, case .lease = authority else { return }
      throw SyncError(
        .leaseLost, during: "writing",
        "The server has lost this sync's last commits, as after a failover; the next sync repeats them.")
    }

    // MARK: Attempts

    /// Runs a body until it succeeds, or another run would not help.
    ///
    /// - Parameter body: Gets whether it runs for the first time, and may rely on what is
    ///   remembered.
    private func attempting<R>(_ body: (_ isFirst: Bool) throws(SyncError) -> R) throws(SyncError) -> R {
      // The store has been opened, so its server is there or will return.
      var attempts = Attempts(patience: settings.patience)
      var isFirst = true
      while true {
        failure = nil
        hasChanged = false
        do throws(SyncError) {
          do throws(PostgresFailure) {
            try open()
          } catch {
            failure = error
            throw error.error(during: "connecting to PostgreSQL")
          }
          return try body(isFirst)
        } catch {
          rollback()
          cache.kept.forget()
          cache.opening = nil
          isFirst = false
          if hasChanged { continue }
          guard let failure, attempts.goOn(after: failure) else { throw error }
        }
      }
    }
  }

  /// What a transaction needs to know of its store object.
  struct TransactionContext: Sendable {
    var declarations: Declarations
    /// The number of layout steps that this version of the library knows.
    var layout: Int
    /// The positions that this store object's commits took.
    var positions: PositionCount
  }

  /// Counts the positions that a store object's own commits took.
  final class PositionCount: Sendable {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
  }
#endif
