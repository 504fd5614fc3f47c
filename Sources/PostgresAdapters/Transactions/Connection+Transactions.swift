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
      try attempting { () throws(SyncError) -> R in
        enqueue(Self.isolated)
        let opening = try open(context, by: Opening.statement(settings.writer))
        let result = try body(PostgresSnapshot(on: self, opening))
        // Nothing depends on the end of a snapshot: it goes with the next statements.
        enqueue(Self.commit)
        try flush(during: "ending a read")
        return result
      }
    }

    /// Runs a body as one transaction that writes, after all that began before it.
    func write<R>(
      _ context: TransactionContext, _ authority: WriteAuthority,
      _ body: (PostgresTransaction) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      var unsettled: (token: Int64, result: R)?
      return try attempting { () throws(SyncError) -> R in
        let opening = try openToWrite(context)
        if let former = unsettled, opening.token == former.token {
          // The connection was lost while the transaction was being committed, and it was.
          token = former.token
          rollback()
          return former.result
        }
        unsettled = nil
        try demandMemory(of: opening, authority)
        try opening.demand(authority)
        let transaction = PostgresTransaction(on: self, opening)
        let result = try body(transaction)
        let next = token + 1
        transaction.close(token: next)
        enqueue(Self.commit)
        if transaction.hasWritten { unsettled = (next, result) }
        do throws(SyncError) {
          try flush(during: "committing")
        } catch {
          if failure?.isConnectionLost != true { unsettled = nil }
          throw error
        }
        if transaction.hasWritten { token = next }
        transaction.hasCommitted()
        if transaction.hasPosition { context.positions.add() }
        return result
      }
    }

    /// Runs a body that changes the lease or the layout, after earlier writes.
    func change<R>(
      _ context: TransactionContext, _ body: (Opening) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try attempting { () throws(SyncError) -> R in
        let opening = try openToWrite(context)
        let result = try body(opening)
        enqueue(Self.commit)
        try flush(during: "committing")
        return result
      }
    }

    // MARK: Beginning

    /// Begins a transaction, waits for earlier writes, and reads the store's row.
    private func openToWrite(_ context: TransactionContext) throws(SyncError) -> Opening {
      enqueue(Self.writing)
      return try open(context, by: Opening.statement(settings.writer, underLock: settings.writeLock))
    }

    private func open(_ context: TransactionContext, by statement: Statement) throws(SyncError) -> Opening {
      let rows = try query(statement, during: "beginning a transaction")
      let opening = try Opening(rows, layout: context.layout)
      try refreshCatalog(opening.catalog, context.declarations)
      if cache.keptVersion != opening.keptVersion {
        cache.kept = [:]
        cache.keptVersion = opening.keptVersion
      }
      return opening
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

    private func attempting<R>(_ body: () throws(SyncError) -> R) throws(SyncError) -> R {
      var attempts = Attempts(patience: generation == 0 ? .zero : settings.patience)
      while true {
        failure = nil
        do throws(SyncError) {
          do throws(PostgresFailure) {
            try open()
          } catch {
            failure = error
            throw error.error(during: "connecting to PostgreSQL")
          }
          return try body()
        } catch {
          rollback()
          cache.kept = [:]
          cache.keptVersion = -1
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
