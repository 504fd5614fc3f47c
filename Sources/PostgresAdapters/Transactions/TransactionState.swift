#if Postgres
  import SyncModels

  /// How far a connection's transaction has come.
  ///
  /// A transaction begins as assumed if the connection remembers the store's row. The statements
  /// that begin it go to the server with its first own statement. What the body used of the row is
  /// then compared with the row as the transaction finds it. If they differ, the transaction is
  /// outdated, and runs again. A body that needs no statement costs one in place of three.
  enum TransactionState {
    /// There is none.
    case none
    /// Nothing was sent; the body sees the remembered row.
    case assumed(TransactionStart)
    /// The server has begun the transaction, and read the row.
    case begun(Opening)
    /// The body saw something that another transaction had changed.
    case outdated

    /// The beginning that was not sent.
    var start: TransactionStart? {
      if case .assumed(let start) = self { start } else { nil }
    }

    var isAssumed: Bool { start != nil }

    var isOutdated: Bool {
      if case .outdated = self { true } else { false }
    }
  }

  /// The beginning of a transaction whose body sees a remembered row.
  struct TransactionStart {
    /// Begins the transaction.
    var begin: Statement
    /// Reads the row, for a transaction that writes after it has waited for earlier ones.
    var opening: Statement
    /// The row as the body sees it.
    var row: Opening
    /// What the body has used of the row.
    var used: Opening.Parts
    var layout: Int
  }

  extension Connection {
    /// The store's row for a transaction that is going to use some parts of it.
    func opening(_ parts: Opening.Parts) -> Opening {
      use(parts)
      switch transaction {
      case .assumed(let start): return start.row
      case .begun(let row): return row
      case .none, .outdated: return Opening()
      }
    }

    /// Notes that the transaction relies on parts of the store's row.
    func use(_ parts: Opening.Parts) {
      guard case .assumed(var start) = transaction else { return }
      start.used.formUnion(parts)
      transaction = .assumed(start)
    }

    /// Compares the row with what the transaction has used of it.
    ///
    /// - Throws: A failure after which the transaction runs again, as it is outdated.
    func compare(_ start: TransactionStart, with rows: ResultRows) throws(SyncError) {
      let row = try Opening(rows, layout: start.layout)
      guard start.row.equals(row, in: start.used) else { throw outdate() }
      transaction = .begun(row)
      cache.kept.enter(row.keptVersion)
    }

    /// Notes that the transaction saw what another one had changed.
    ///
    /// - Returns: The error that ends it.
    func outdate() -> SyncError {
      transaction = .outdated
      return SyncError(
        .storeBusy, during: "reading the store", "Another transaction changed the store meanwhile.")
    }
  }
#endif
