#if Postgres
  import SyncModels
  import Synchronization

  /// How far a connection's transaction has come.
  ///
  /// A transaction begins as assumed if the connection remembers the store's header. The statements
  /// that begin it go to the server with its first own statement. What the body used of the header
  /// is then compared with the header as the transaction finds it. If they differ, the transaction
  /// is outdated, and runs again. A body that needs no statement costs one in place of three, and so
  /// does one that reads once: records of one type by their ids, or the answer to a query.
  enum TransactionState {
    /// There is none.
    case none
    /// Nothing was sent; the body sees the remembered header.
    case assumed(TransactionStart)
    /// The server has begun the transaction, and read the header.
    case begun(StoreHeader)
    /// One statement has read the header and what the body asked for first. Nothing more can be read
    /// with them.
    case read(StoreHeader, ReadForecasts.Kind)
    /// The body saw something that another transaction had changed.
    case outdated

    /// The beginning that was not sent.
    var start: TransactionStart? {
      if case .assumed(let start) = self { start } else { nil }
    }

    /// What was read in one statement with the header.
    var aloneRead: ReadForecasts.Kind? {
      if case .read(_, let kind) = self { kind } else { nil }
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
    /// Whether what is read first may be read without a transaction.
    var mayReadAlone = false
  }

  /// Whether a read is expected to be over with what it reads first, as most were lately.
  struct ReadForecasts {
    /// What a read begins with.
    enum Kind {
      case records
      case query
    }

    private struct Forecast {
      var misses = 0
      var pause = 0
    }

    private var records = Forecast()
    private var query = Forecast()

    private subscript(kind: Kind) -> Forecast {
      get { kind == .records ? records : query }
      set { if kind == .records { records = newValue } else { query = newValue } }
    }

    /// Whether the next read that begins so is expected to be over then; counts it.
    mutating func isNextAlone(_ kind: Kind) -> Bool {
      if self[kind].pause == 0 { return true }
      self[kind].pause -= 1
      return false
    }

    /// Counts a read that was over.
    ///
    /// A read that runs again costs about twice what one saves.
    mutating func countHit(_ kind: Kind) { self[kind].misses = max(0, self[kind].misses - 1) }

    /// Counts a read that went on, so that it has to run again.
    mutating func countMiss(_ kind: Kind) {
      let misses = min(self[kind].misses + 2, 8)
      self[kind] = Forecast(misses: misses, pause: 1 << misses)
    }
  }

  extension ResultRow {
    /// Whether a row of one of several kinds has the header in its first columns.
    var isOfHeader: Bool { !isNull(0) }
  }

  extension Connection {
    /// The store's header for a transaction that is going to use some parts of it.
    func header(_ parts: StoreHeader.Parts) -> StoreHeader {
      use(parts)
      switch transaction {
      case .assumed(let start): return start.header
      case .begun(let header), .read(let header, _): return header
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
    func header(in row: ResultRow?, layout: Int) throws(SyncError) -> StoreHeader {
      if let row, row.text(StoreHeader.columnCount - 1) != sessionMark { throw refuseSession() }
      return try StoreHeader(row, layout: layout)
    }

    /// Reads something together with the header, if nothing was read before.
    ///
    /// The statement is a transaction of its own, which sees one state of both. A body that goes on to
    /// read more runs again, in a transaction.
    ///
    /// - Returns: The rows, in which the header's columns are the first, and not null in one row alone;
    ///   `nil` if the transaction has to be begun.
    func readAlone(
      _ kind: ReadForecasts.Kind, _ statement: (_ writer: [UInt8]) -> Statement,
      during operation: @autoclosure () -> String
    ) throws(SyncError) -> ResultRows? {
      guard let start = transaction.start, start.mayReadAlone, !hasPending,
        memory.forecasts.isNextAlone(kind)
      else { return nil }
      transaction = .none
      let number = try sendAlone(statement(settings.writer), begin: Self.isolated, during: operation())
      let rows = try result(of: number, during: operation())
      try compare(start, with: rows.first { $0.isOfHeader })
      if case .begun(let header) = transaction { transaction = .read(header, kind) }
      return rows
    }

    /// Compares the header with what the transaction has used of it.
    ///
    /// - Throws: A failure after which the transaction runs again, as it is outdated.
    func compare(_ start: TransactionStart, with row: ResultRow?) throws(SyncError) {
      let header = try header(in: row, layout: start.layout)
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

  /// What a transaction needs to know of its store object.
  struct TransactionContext: Sendable {
    var declarations: Declarations
    /// The number of migrations that this version of the library knows.
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
