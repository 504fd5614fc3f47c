#if Postgres
  import SyncModels

  /// How far a connection's transaction has come.
  ///
  /// A transaction begins as assumed if the connection remembers the store's header. The statements
  /// that begin it go to the server with its first own statement. What the body used of the header
  /// is then compared with the header as the transaction finds it. If they differ, the transaction
  /// is outdated, and runs again. A body that needs no statement costs one in place of three, and so
  /// does one that reads records of one type by their ids, once.
  enum TransactionState {
    /// There is none.
    case none
    /// Nothing was sent; the body sees the remembered header.
    case assumed(TransactionStart)
    /// The server has begun the transaction, and read the header.
    case begun(StoreHeader)
    /// One statement has read the header and some records. Nothing more can be read with them.
    case read(StoreHeader)
    /// The body saw something that another transaction had changed.
    case outdated

    /// The beginning that was not sent.
    var start: TransactionStart? {
      if case .assumed(let start) = self { start } else { nil }
    }

    var isAssumed: Bool { start != nil }

    var isAloneRead: Bool {
      if case .read = self { true } else { false }
    }

    var isOutdated: Bool {
      if case .outdated = self { true } else { false }
    }
  }

  /// The beginning of a transaction whose body sees a remembered header.
  struct TransactionStart {
    /// Begin the transaction.
    var begin: [Statement]
    /// Reads the header, for a transaction that writes after it has waited for earlier ones.
    var readHeader: Statement
    /// The header as the body sees it.
    var header: StoreHeader
    /// What the body has used of the header.
    var used: StoreHeader.Parts
    var layout: Int
    /// Whether the first records may be read without a transaction.
    var mayReadAlone = false
  }

  /// Whether the next read is expected to be over with its first records, as most were lately.
  struct ReadForecast {
    private var misses = 0
    private var pause = 0

    var isAlone: Bool { pause == 0 }

    /// Counts a read that was over with its first records, or that began a transaction.
    mutating func countRead(isAlone: Bool) {
      if isAlone { misses = 0 } else if pause > 0 { pause -= 1 }
    }

    /// Counts a read that had its first records alone and went on, so that it has to run again.
    mutating func countMiss() {
      misses = min(misses + 1, 8)
      pause = 1 << misses
    }
  }

  extension Connection {
    /// The store's header for a transaction that is going to use some parts of it.
    func header(_ parts: StoreHeader.Parts) -> StoreHeader {
      use(parts)
      switch transaction {
      case .assumed(let start): return start.header
      case .begun(let header), .read(let header): return header
      case .none, .outdated: return StoreHeader()
      }
    }

    /// Notes that the transaction relies on parts of the store's header.
    func use(_ parts: StoreHeader.Parts) {
      guard case .assumed(var start) = transaction else { return }
      start.used.formUnion(parts)
      transaction = .assumed(start)
    }

    /// Takes a header that was read in this connection's session.
    ///
    /// - Throws: `invalidConfiguration` if it was read in another one's.
    func header(in rows: ResultRows, layout: Int) throws(SyncError) -> StoreHeader {
      if let row = rows.first, row.text(StoreHeader.columnCount - 1) != sessionMark { throw refuseSession() }
      return try StoreHeader(rows, layout: layout)
    }

    /// Reads some records together with the header, if nothing was read before.
    ///
    /// The statement is a transaction of its own, which sees one state of both. A body that goes on to
    /// read more runs again, in a transaction.
    ///
    /// - Returns: The rows with records' columns after the header's; `nil` if the transaction has to be
    ///   begun.
    func readAlone(_ statement: (_ writer: [UInt8]) -> Statement, of type: RecordType) throws(SyncError)
      -> ResultRows?
    {
      guard let start = transaction.start, start.mayReadAlone, !hasPending else { return nil }
      transaction = .none
      let operation = "reading \(type)"
      let number = try sendAlone(statement(settings.writer), begin: Self.isolated, during: operation)
      let rows = try result(of: number, during: operation)
      try compare(start, with: rows)
      if case .begun(let header) = transaction { transaction = .read(header) }
      return rows
    }

    /// Compares the header with what the transaction has used of it.
    ///
    /// - Throws: A failure after which the transaction runs again, as it is outdated.
    func compare(_ start: TransactionStart, with rows: ResultRows) throws(SyncError) {
      let header = try header(in: rows, layout: start.layout)
      guard start.header.equals(header, in: start.used) else { throw outdate() }
      transaction = .begun(header)
      cache.kept.enter(header.keptVersion)
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
