#if SQLite
  import SyncModels

  /// A walk through a table by row numbers, past damaged rows and pages.
  ///
  /// Row numbers ascend, and each search has a bounded number of attempts, so the walk ends
  /// whatever the file says.
  struct RowScan {
    let connection: Connection
    let table: String
    /// The column of the row number.
    let number: String
    /// The columns to read.
    let columns: String

    /// Some rows, and what cannot be read between them.
    struct Found<Row> {
      var rows: [Row] = []
      /// Rows that exist and cannot be read.
      var unreadable: [Int64] = []
      /// Ranges of numbers that cannot be searched.
      var gaps: [ClosedRange<Int64>] = []
      /// The last number that the walk has passed; `nil` at its end.
      var reached: Int64?
    }

    /// The most rows that are read of a damaged place. A page holds fewer.
    private static let rowsOfPlace: Int64 = 200

    /// Reads the rows behind a number.
    ///
    /// - Parameter read: Reads a row from the columns; `nil` to skip it.
    func rows<Row>(
      after start: Int64?, limit: Int, read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Found<Row> {
      // The library numbers rows from 1 on.
      let start = max(start ?? 0, 0)
      if let found = try unlessDamaged({ () throws(SyncError) in try intact(after: start, limit, read) }) {
        return found
      }
      var found = Found<Row>(reached: start)
      for _ in 0..<limit {
        guard let last = found.reached else { break }
        switch try next(after: last) {
        case .row(let number):
          try lookUp(number, &found, read)
          found.reached = number
        case .end:
          found.reached = nil
        case .damage:
          let (number, end) = try searchBehind(last)
          found.rows += try strayRows(after: last, before: number, read)
          found.gaps.append(last...(number.map { $0 - 1 } ?? end))
          found.reached = number.map { $0 - 1 }
        }
      }
      return found
    }

    /// Reads the row with a number, if there is one, and returns whether there is.
    @discardableResult
    func lookUp<Row>(
      _ place: Int64, _ found: inout Found<Row>, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Bool {
      let result = try unlessDamaged { () throws(SyncError) -> (row: Row?, exists: Bool) in
        let statement = try connection.statement("SELECT \(columns) FROM \(table) WHERE \(number) = ?")
        defer { statement.reset() }
        try statement.bind(place, at: 1)
        return try statement.step() ? (try read(statement), true) : (nil, false)
      }
      if let result {
        if let row = result.row { found.rows.append(row) }
        return result.exists
      }
      // On a damaged page, no row is known to exist.
      let isThere = try unlessDamaged { () throws(SyncError) in try exists(place) } ?? false
      if isThere { found.unreadable.append(place) }
      return isThere
    }

    /// Reads in one transaction; `nil` where the file is damaged.
    func unlessDamaged<R>(_ body: () throws(SyncError) -> R) throws(SyncError) -> R? {
      do throws(SyncError) {
        return try connection.transaction(.read, body)
      } catch {
        guard error.isOfDamagedStore else { throw error }
        return nil
      }
    }

    private func intact<Row>(
      after start: Int64, _ limit: Int, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Found<Row> {
      let statement = try connection.statement(
        "SELECT \(columns), \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT ?")
      defer { statement.reset() }
      try statement.bind(start, at: 1)
      // The row behind the last one shows whether that has its own number.
      try statement.bind(Int64(limit) + 1, at: 2)
      var (found, last, count) = (Found<Row>(), start, 0)
      while try statement.step() {
        let number = statement.integer(statement.columnCount - 1)
        // A damaged tree may return rows in any order.
        if number <= last {
          throw SyncError(.storeUnreadable, during: "reading a damaged store", "Rows are out of order.")
        }
        if count == limit { break }
        if let row = try read(statement) { found.rows.append(row) }
        (last, count) = (number, count + 1)
      }
      // Rows of no positive number are not the library's, and are read of damaged places alone.
      if count == limit { found.reached = last }
      return found
    }

    private enum Next {
      /// The number of a row.
      case row(Int64)
      /// Nothing that can be read, or a row with a damaged number.
      case damage
      case end
    }

    private func next(after start: Int64) throws(SyncError) -> Next {
      try unlessDamaged { () throws(SyncError) -> Next in
        let statement = try connection.statement(
          "SELECT \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT 2")
        defer { statement.reset() }
        try statement.bind(start, at: 1)
        guard try statement.step() else { return .end }
        let found = statement.integer(0)
        guard found > start, try exists(found) else { return .damage }
        return try statement.step() && statement.integer(0) <= found ? .damage : .row(found)
      } ?? .damage
    }

    /// Reads the rows of a damaged place that are not found by their numbers.
    ///
    /// They come in the order of their page.
    ///
    /// - Parameter end: The first row behind the place; `nil` if there is none.
    private func strayRows<Row>(
      after start: Int64, before end: Int64?, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> [Row] {
      var rows: [Row] = []
      _ = try unlessDamaged { () throws(SyncError) in
        let statement = try connection.statement(
          "SELECT \(columns), \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT \(Self.rowsOfPlace)"
        )
        defer { statement.reset() }
        try statement.bind(start, at: 1)
        while try statement.step() {
          let number = statement.integer(statement.columnCount - 1)
          if number == end { break }
          if let row = try read(statement) { rows.append(row) }
        }
      }
      return rows
    }

    /// Returns the first row behind a damaged place, and the place's last number.
    ///
    /// Pages hold consecutive numbers: it tries a few numbers one by one, then ever larger steps,
    /// and then narrows the last step down.
    private func searchBehind(_ start: Int64) throws(SyncError) -> (row: Int64?, end: Int64) {
      var (low, step) = (start, Int64(1))
      for attempt in 0..<200 {
        let (candidate, isBeyond) = low.addingReportingOverflow(step)
        if isBeyond { break }
        switch try next(after: candidate) {
        case .row(let number): return try narrow(low, candidate, number)
        case .end: return try narrow(low, candidate, nil)
        case .damage: low = candidate
        }
        if attempt >= 64 { step = step > .max / 2 ? step : 2 * step }
      }
      return (nil, low)
    }

    /// Finds the end of a damaged place, between two numbers.
    ///
    /// - Parameters:
    ///   - low: A number in the place.
    ///   - high: A number behind it.
    ///   - row: The first row behind the second number; `nil` if there is none.
    private func narrow(
      _ low: Int64, _ high: Int64, _ row: Int64?
    ) throws(SyncError) -> (row: Int64?, end: Int64) {
      var (low, high, row) = (low, high, row)
      while high - low > 1 {
        let middle = low + (high - low) / 2
        switch try next(after: middle) {
        case .row(let number): (high, row) = (middle, number)
        case .end: high = middle
        case .damage: low = middle
        }
      }
      return (row, row.map { $0 - 1 } ?? high)
    }

    private func exists(_ place: Int64) throws(SyncError) -> Bool {
      try connection.first("SELECT 1 FROM \(table) WHERE \(number) = ?", .number(place)) { _ in true }
        ?? false
    }
  }
#endif
