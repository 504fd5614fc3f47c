#if SQLite
  import SyncModels

  /// A walk through a table by row numbers, past damaged rows and pages.
  ///
  /// Row numbers ascend, and each search has a bounded number of attempts, so the walk ends
  /// whatever the file says.
  struct RowScan {
    private let connection: Connection
    private let table: String
    private let number: String
    private let columns: String

    /// - Parameters:
    ///   - number: The column of the row number.
    ///   - columns: The columns to read.
    init(_ connection: Connection, table: String, number: String, columns: String) {
      self.connection = connection
      self.table = table
      self.number = number
      self.columns = columns
    }

    /// Some rows, and the places between them that cannot be read.
    struct Found<Row> {
      var rows: [Row] = []
      /// Rows that exist and cannot be read.
      var unreadable: [Int64] = []
      /// Ranges of numbers that cannot be searched.
      var gaps: [ClosedRange<Int64>] = []
      /// The last number that the walk has passed; `nil` at its end.
      var reached: Int64?
    }

    /// Reads the rows behind a number.
    ///
    /// - Parameter read: Reads a row from the columns; `nil` to skip it.
    func rows<Row>(
      after start: Int64?, limit: Int, read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Found<Row> {
      do throws(SyncError) {
        return try intact(after: start ?? .min, limit: limit, read)
      } catch {
        guard error.isOfDamagedFile else { throw error }
        return try oneByOne(after: start ?? .min, limit: limit, read)
      }
    }

    private func intact<Row>(
      after start: Int64, limit: Int, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Found<Row> {
      try connection.transaction(.read) { () throws(SyncError) -> Found<Row> in
        let statement = try connection.statement(
          "SELECT \(columns), \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT ?")
        defer { statement.reset() }
        try statement.bind(start, at: 1)
        try statement.bind(Int64(limit), at: 2)
        var found = Found<Row>()
        while try statement.step() {
          let number = statement.integer(statement.columnCount - 1)
          // A damaged tree may return rows in any order.
          if number <= found.reached ?? start { throw Self.outOfOrder }
          found.reached = number
          if let row = try read(statement) { found.rows.append(row) }
        }
        return found
      }
    }

    private func oneByOne<Row>(
      after start: Int64, limit: Int, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Found<Row> {
      var found = Found<Row>(reached: start)
      var lookups = Self.lookupsInAll
      for _ in 0..<limit {
        guard let last = found.reached else { break }
        switch try next(after: last) {
        case .row(let number):
          // A damaged number in a page hides the rows behind it from this search.
          found.rows += lookUp(between: last, number, &lookups, read)
          found.reached = number
          do throws(SyncError) {
            if let row = try row(number, read) { found.rows.append(row) }
          } catch {
            guard error.isOfDamagedFile else { throw error }
            found.unreadable.append(number)
          }
        case .end:
          found.reached = nil
        case .damage:
          let (number, end) = try searchBehind(last)
          // A search for the first row of an intact page may begin on the damaged one before it.
          var few = 2 * Self.lookupsAtEnd
          found.rows += lookUp(between: last, number ?? end, &few, read)
          found.gaps.append(last...(number.map { $0 - 1 } ?? end))
          found.reached = number.map { $0 - 1 }
        }
      }
      return found
    }

    /// The most numbers that are looked up at each end of a gap. A page holds fewer rows.
    private static let lookupsAtEnd: Int64 = 200
    /// The most numbers that a call looks up between rows, which may be sparse.
    private static let lookupsInAll: Int64 = 20_000

    /// Looks up the numbers between two others: the first ones and the last ones of many.
    private func lookUp<Row>(
      between last: Int64, _ next: Int64, _ rest: inout Int64, _ read: (Statement) throws(SyncError) -> Row?
    ) -> [Row] {
      // The library numbers rows from 1 on.
      let last = max(last, 0)
      guard next > last, next - last > 1 else { return [] }
      let (first, final) = (last + 1, next - 1)
      let few = min(Self.lookupsAtEnd, rest / 2)
      let isShort = final - first < 2 * few
      let ranges = isShort ? [first..<final + 1] : [first..<first + few, final - few + 1..<final + 1]
      rest -= min(rest, final - first + 1, 2 * few)
      // A lookup that fails finds no row.
      return ranges.joined().compactMap { (try? row($0, read)) ?? nil }
    }

    private enum Next {
      case row(Int64), end, damage
    }

    private func next(after start: Int64) throws(SyncError) -> Next {
      do throws(SyncError) {
        let found = try connection.transaction(.read) { () throws(SyncError) -> Int64? in
          let statement = try connection.statement(
            "SELECT \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT 1")
          defer { statement.reset() }
          try statement.bind(start, at: 1)
          return try statement.step() ? statement.integer(0) : nil
        }
        guard let found else { return .end }
        return found > start ? .row(found) : .damage
      } catch {
        guard error.isOfDamagedFile else { throw error }
        return .damage
      }
    }

    /// Returns the first row behind a damaged place, and the last number tried.
    ///
    /// Pages hold consecutive numbers: it tries a few numbers one by one, then ever larger steps,
    /// and then narrows the last step down.
    private func searchBehind(_ start: Int64) throws(SyncError) -> (row: Int64?, end: Int64) {
      var (failing, step) = (start, Int64(1))
      for attempt in 0..<200 {
        let (candidate, isBeyond) = failing.addingReportingOverflow(step)
        if isBeyond { return (nil, .max) }
        switch try next(after: candidate) {
        case .row(var number):
          // The searches between fail or find this row or an earlier one.
          var (low, high) = (failing, candidate)
          while high - low > 1 {
            let middle = low + (high - low) / 2
            if case .row(let earlier) = try next(after: middle) {
              (high, number) = (middle, earlier)
            } else {
              low = middle
            }
          }
          return (number, number - 1)
        case .end: return (nil, candidate)
        case .damage:
          failing = candidate
          if attempt >= 64 { step = step > .max / 2 ? step : 2 * step }
        }
      }
      return (nil, failing)
    }

    private func row<Row>(
      _ place: Int64, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Row? {
      try connection.transaction(.read) { () throws(SyncError) -> Row? in
        let statement = try connection.statement(
          "SELECT \(columns) FROM \(table) WHERE \(number) = ?")
        defer { statement.reset() }
        try statement.bind(place, at: 1)
        return try statement.step() ? try read(statement) : nil
      }
    }

    private static var outOfOrder: SyncError {
      SyncError(.storeUnreadable, during: "reading a damaged store", "Rows are out of order.")
    }
  }

  extension SyncError {
    /// Whether a read failed because of the file's contents.
    var isOfDamagedFile: Bool { code == .storeUnreadable || code == .storeFailure }
  }
#endif
