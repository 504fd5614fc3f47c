#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension Connection {
    // These have no plan to keep, and nothing may be sent before what begins a transaction.
    static let isolated = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", isKept: false)
    static let writing = Statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", isKept: false)
    static let commit = Statement("COMMIT", isKept: false)
    /// Ends when all commits before it are on the disk, and where the server's `synchronous_commit`
    /// demands it also on standbys.
    ///
    /// A commit does not wait for the disk while it has the lock under which writes queue, as each
    /// would then wait for the disk after the others have. The server flushes for many at once.
    private static let flushed = Statement("SELECT pg_logical_emit_message(true, 'CanonicalSync', '')")

    /// Runs a body over one snapshot.
    func read<R>(
      _ context: TransactionContext, _ body: (PostgresSnapshot) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try attempting { (isFirst) throws(SyncError) -> R in
        var known = isFirst ? remembered(context) : nil
        var isCurrent = false
        while let header = known {
          assume(
            header, using: [], begin: beginning(Self.isolated),
            readHeader: StoreHeader.statement(settings.writer),
            context, mayReadAlone: true)
          let result = Result { () throws(SyncError) -> R in try body(PostgresSnapshot(on: self)) }
          guard let start = transaction.start else {
            if let kind = transaction.aloneRead { memory.forecasts.countHit(kind) }
            return try endRead(result)
          }
          // A header that was read since the call began is as good as a later one.
          if isCurrent { return try result.get() }
          let now = try confirm(start, by: start.readHeader)
          if start.header.equals(now, in: start.used) { return try result.get() }
          (known, isCurrent) = (remembered(context), true)
        }
        enqueue(beginning(Self.isolated))
        try open(context, by: StoreHeader.statement(settings.writer))
        return try endRead(Result { () throws(SyncError) -> R in try body(PostgresSnapshot(on: self)) })
      }
    }

    private func endRead<R>(_ result: Result<R, SyncError>) throws(SyncError) -> R {
      if case .read(let header, _) = transaction {
        cache.header = header
        return try result.get()
      }
      guard case .begun(let header) = transaction else {
        // A read of some records alone that failed has begun nothing.
        if case .none = transaction, case .failure(let error) = result { throw error }
        throw outdate()
      }
      let result = try result.get()
      // Nothing depends on the end of a snapshot, so it is not waited for.
      enqueue(Self.commit)
      try send([], during: "ending a read")
      cache.header = header
      return result
    }

    /// Runs a body as one transaction that writes, after all that began before it.
    func write<R>(
      _ context: TransactionContext, _ authority: WriteAuthority,
      _ body: (PostgresTransaction) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      var unsettled: (token: Int64, result: R)?
      return try attempting { (isFirst) throws(SyncError) -> R in
        let known = isFirst ? remembered(context) : nil
        if !memory.isContended, let known, known.token == token, allows(authority, by: known) {
          let readHeader = StoreHeader.statement(settings.writer, underLock: settings.writeLock)
          assume(known, using: .all, begin: beginning(Self.writing), readHeader: readHeader, context)
        } else {
          let header = try openToWrite(context)
          // What is remembered is outdated between the commits of others, and costs an attempt.
          memory.isContended = known.map { !$0.equals(header, in: .all) } ?? !isFirst
          if let former = unsettled, header.token == former.token {
            // The connection was lost while the transaction was being committed, and it was.
            token = former.token
            rollback()
            enqueue(Self.flushed)
            try flush(during: "committing")
            return former.result
          }
          unsettled = nil
          try demandMemory(of: header, authority)
          try header.demand(authority)
        }
        let transaction = PostgresTransaction(on: self)
        let outcome = Result { () throws(SyncError) -> R in try body(transaction) }
        let ending = try ending(of: transaction, after: outcome.map { _ in })
        guard case .success(let result) = outcome else { return try outcome.get() }
        if ending.isWriting { unsettled = (token + 1, result) }
        // A mark that is taken while the commit is visible must not count it as another writer's.
        if transaction.hasPosition { context.positions.add() }
        do throws(SyncError) {
          try end(transaction, by: ending)
        } catch {
          if transaction.hasPosition { memory.losses.add() }
          if failure?.isConnectionLost != true { unsettled = nil }
          throw error
        }
        return result
      }
    }

    /// How a transaction that writes ends.
    private enum Ending {
      /// Nothing was written, and the body needed no statement.
      case nothing
      /// Kept values are written, and the body needed no statement: one statement is all.
      case keptValues(StoreHeader)
      case commit(StoreHeader, isWriting: Bool)

      var isWriting: Bool {
        switch self {
        case .nothing: false
        case .keptValues: true
        case .commit(_, let isWriting): isWriting
        }
      }
    }

    /// Decides how a transaction ends; the header must be as its body saw it.
    private func ending(
      of transaction: PostgresTransaction, after outcome: Result<Void, SyncError>
    ) throws(SyncError) -> Ending {
      if let start = self.transaction.start {
        guard case .success = outcome, transaction.hasWritten else {
          // Also an error of the body counts only if it has seen the header as it is.
          dropPending()
          let now = try confirm(start, by: StoreHeader.statement(settings.writer))
          guard start.header.equals(now, in: start.used) else { throw outdate() }
          return .nothing
        }
        if !hasPending, transaction.writesKeptValuesAlone { return .keptValues(start.header) }
        // The header is compared before anything is committed.
        try flush(during: "beginning a transaction")
      }
      guard case .begun(let header) = self.transaction else { throw outdate() }
      return .commit(header, isWriting: transaction.hasWritten)
    }

    private func end(_ transaction: PostgresTransaction, by ending: Ending) throws(SyncError) {
      let former: StoreHeader
      switch ending {
      case .nothing: return
      case .keptValues(let header):
        self.transaction = .none
        let keeping = transaction.keeping(by: header, token: token + 1)
        let kept = try sendAlone(keeping, begin: Self.writing, during: "committing")
        let flushed = try send([Self.flushed], during: "committing")[0]
        let isKept = try result(of: kept, during: "committing").first?.bool(0)
        _ = try result(of: flushed, during: "committing")
        guard isKept == true else { throw outdate() }
        former = header
      case .commit(let header, let isWriting):
        transaction.close(token: token + 1)
        if isWriting {
          try commit()
        } else {
          // Nothing depends on the end of a transaction that wrote nothing.
          enqueue(Self.commit)
          try send([], during: "ending a transaction")
        }
        former = header
      }
      hasCommitted(transaction, former)
    }

    /// Remembers the header as a commit has left it.
    private func hasCommitted(_ transaction: PostgresTransaction, _ former: StoreHeader) {
      var now = former
      if transaction.hasWritten {
        token += 1
        now.token = token
      }
      if transaction.changesKeptValues {
        cache.kept.rise()
        now.keptVersion += 1
      }
      if transaction.hasPosition { now.position += 1 }
      cache.header = transaction.areCountsCurrent ? now : nil
    }

    /// The header that the last transaction left, if the types are as it found them.
    private func remembered(_ context: TransactionContext) -> StoreHeader? {
      guard let known = cache.header, cache.catalog.isOf(version: known.catalog, context.declarations)
      else { return nil }
      return known
    }

    private func allows(_ authority: WriteAuthority, by header: StoreHeader) -> Bool {
      // A refusal has to come from the header as it is now.
      (try? header.demand(authority)) != nil
    }

    /// Runs statements that change the store's header, after earlier writes, in one round trip.
    func change(by statements: [Statement]) throws(SyncError) {
      try attempting { (_) throws(SyncError) in
        cache.header = nil
        enqueue(beginning(Self.writing))
        enqueue(sessionGuard)
        enqueue(StoreHeader.statement(settings.writer, underLock: settings.writeLock))
        for statement in statements { enqueue(statement) }
        try commit()
      }
    }

    /// Runs a body that changes the lease or the layout, after earlier writes.
    func change<R>(
      _ context: TransactionContext, _ body: (StoreHeader) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try attempting { (_) throws(SyncError) -> R in
        let header = try openToWrite(context)
        // The body changes the header.
        cache.header = nil
        let result = try body(header)
        try commit()
        return result
      }
    }

    /// Commits, and waits until that is durable.
    private func commit() throws(SyncError) {
      enqueue(Self.commit)
      enqueue(Self.flushed)
      try flush(during: "committing")
    }

    // MARK: Beginning

    /// The statements that begin a transaction.
    ///
    /// In a session that others use meanwhile, one of them sets it up for this transaction.
    func beginning(_ begin: Statement) -> [Statement] {
      guard settings.isLent, let session else { return [begin] }
      return [begin, settings.setUp(for: session)]
    }

    /// Sends a statement that is a transaction of its own, and returns its number.
    func sendAlone(
      _ statement: Statement, begin: Statement, during operation: @autoclosure () -> String
    ) throws(SyncError) -> Int {
      if settings.isLent {
        enqueue(beginning(begin))
        return try send([statement, Self.commit], during: operation())[0]
      }
      return try send([statement], during: operation())[0]
    }

    /// Begins a transaction whose body sees a remembered header.
    private func assume(
      _ header: StoreHeader, using parts: StoreHeader.Parts, begin: [Statement], readHeader: Statement,
      _ context: TransactionContext, mayReadAlone: Bool = false
    ) {
      cache.kept.enter(header.keptVersion)
      transaction = .assumed(
        TransactionStart(
          begin: begin, readHeader: readHeader, header: header, used: parts, layout: context.layout,
          mayReadAlone: mayReadAlone))
    }

    /// Reads the header as it is now, outside of the transaction that never began.
    private func confirm(_ start: TransactionStart, by statement: Statement) throws(SyncError) -> StoreHeader
    {
      transaction = .none
      let number = try sendAlone(statement, begin: Self.isolated, during: "reading the store")
      let header = try header(in: result(of: number, during: "reading the store").first, layout: start.layout)
      cache.header = header
      return header
    }

    /// Begins a transaction, waits for earlier writes, and reads the store's header.
    private func openToWrite(_ context: TransactionContext) throws(SyncError) -> StoreHeader {
      enqueue(beginning(Self.writing))
      return try open(context, by: StoreHeader.statement(settings.writer, underLock: settings.writeLock))
    }

    @discardableResult
    private func open(_ context: TransactionContext, by statement: Statement) throws(SyncError) -> StoreHeader
    {
      transaction = .none
      let header = try header(
        in: query(statement, during: "beginning a transaction").first, layout: context.layout)
      transaction = .begun(header)
      try refreshCatalog(header.catalog, context.declarations)
      cache.kept.enter(header.keptVersion)
      return header
    }

    /// Notices a server that lost the last commits, as a standby may that took over.
    private func demandMemory(of header: StoreHeader, _ authority: WriteAuthority) throws(SyncError) {
      let isLost = header.token < token
      token = header.token
      guard isLost, case .lease = authority else { return }
      throw SyncError(
        .leaseLost, during: "writing",
        "The server has lost this sync's last commits, as after a failover; the next sync repeats them.")
    }
  }
#endif
