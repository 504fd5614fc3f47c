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

    /// Reads the rows behind a number.
    ///
    /// - Parameter read: Reads a row from the columns; `nil` to skip it.
    func rows<Row>(
      after start: Int64?, limit: Int, read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Found<Row> {
      do throws(SyncError) {
        return try intact(after: start ?? .min, limit: limit, read)
      } catch {
        guard error.isOfDamagedStore else { throw error }
        // The library numbers rows from 1 on.
        return try oneByOne(after: max(start ?? 0, 0), limit: limit, read)
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
        // The row behind the last one shows whether that has its own number.
        try statement.bind(Int64(limit) + 1, at: 2)
        var (found, last, count) = (Found<Row>(), start, 0)
        while try statement.step() {
          let number = statement.integer(statement.columnCount - 1)
          // A damaged tree may return rows in any order.
          if number <= last { throw Self.outOfOrder }
          if count == limit { break }
          if let row = try read(statement) { found.rows.append(row) }
          (last, count) = (number, count + 1)
        }
        if count > 0 { found.reached = last }
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
          try lookUp(between: last, number, &lookups, &found, read)
          try lookUp(number, &found, read)
          found.reached = number
        case .end:
          found.reached = nil
        case .stray, .damage:
          let (number, end) = try searchBehind(last)
          // A search for the first row of an intact page may begin on the damaged one before it.
          var few = 2 * Self.lookupsAtEnd
          try lookUp(between: last, number ?? end, &few, &found, read)
          found.rows += try strayRows(after: last, before: number, read)
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
      between last: Int64, _ next: Int64, _ rest: inout Int64, _ found: inout Found<Row>,
      _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) {
      guard next > last, next - last > 1 else { return }
      let (first, final) = (last + 1, next - 1)
      let few = min(Self.lookupsAtEnd, rest / 2)
      let isShort = final - first < 2 * few
      let ranges = isShort ? [first..<final + 1] : [first..<first + few, final - few + 1..<final + 1]
      rest -= min(rest, final - first + 1, 2 * few)
      for number in ranges.joined() { try lookUp(number, &found, read) }
    }

    /// Reads the row with a number, if there is one.
    ///
    /// - Returns: Whether there is one.
    @discardableResult
    func lookUp<Row>(
      _ number: Int64, _ found: inout Found<Row>, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Bool {
      do throws(SyncError) {
        let (row, exists) = try row(number, read)
        if let row { found.rows.append(row) }
        return exists
      } catch {
        guard error.isOfDamagedStore else { throw error }
      }
      // On a damaged page, no row is known to exist.
      let isThere = try? connection.transaction(.read) { () throws(SyncError) in try exists(number) }
      guard isThere == true else { return false }
      found.unreadable.append(number)
      return true
    }

    private enum Next {
      /// The number of a row.
      case row(Int64)
      /// A row that has the number of a later row, or of none.
      case stray
      case end, damage
    }

    private func next(after start: Int64) throws(SyncError) -> Next {
      do throws(SyncError) {
        return try connection.transaction(.read) { () throws(SyncError) -> Next in
          let statement = try connection.statement(
            "SELECT \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT 2")
          defer { statement.reset() }
          try statement.bind(start, at: 1)
          guard try statement.step() else { return .end }
          let found = statement.integer(0)
          let exists = try exists(found)
          guard exists, found > start else { return .stray }
          return try statement.step() && statement.integer(0) <= found ? .stray : .row(found)
        }
      } catch {
        guard error.isOfDamagedStore else { throw error }
        return .damage
      }
    }

    /// Reads the rows of a place that are not found by their numbers.
    ///
    /// They come in the order of their page.
    ///
    /// - Parameter end: The first row behind the place; `nil` if there is none.
    private func strayRows<Row>(
      after start: Int64, before end: Int64?, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> [Row] {
      var rows: [Row] = []
      do throws(SyncError) {
        try connection.transaction(.read) { () throws(SyncError) in
          let statement = try connection.statement(
            "SELECT \(columns), \(number) FROM \(table) WHERE \(number) > ? ORDER BY \(number) LIMIT \(Self.lookupsAtEnd)"
          )
          defer { statement.reset() }
          try statement.bind(start, at: 1)
          while try statement.step() {
            let number = statement.integer(statement.columnCount - 1)
            if number == end { break }
            if try !exists(number), let row = try read(statement) { rows.append(row) }
          }
        }
      } catch {
        guard error.isOfDamagedStore else { throw error }
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
        case .stray, .damage: low = candidate
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
    private func narrow(_ low: Int64, _ high: Int64, _ row: Int64?) throws(SyncError) -> (
      row: Int64?, end: Int64
    ) {
      var (low, high, row) = (low, high, row)
      while high - low > 1 {
        let middle = low + (high - low) / 2
        switch try next(after: middle) {
        case .row(let number): (high, row) = (middle, number)
        case .end: high = middle
        case .stray, .damage: low = middle
        }
      }
      return (row, row.map { $0 - 1 } ?? high)
    }

    private func exists(_ place: Int64) throws(SyncError) -> Bool {
      let statement = try connection.statement("SELECT 1 FROM \(table) WHERE \(number) = ?")
      defer { statement.reset() }
      try statement.bind(place, at: 1)
      return try statement.step()
    }

    private func row<Row>(
      _ place: Int64, _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> (row: Row?, exists: Bool) {
      try connection.transaction(.read) { () throws(SyncError) -> (row: Row?, exists: Bool) in
        let statement = try connection.statement("SELECT \(columns) FROM \(table) WHERE \(number) = ?")
        defer { statement.reset() }
        try statement.bind(place, at: 1)
        return try statement.step() ? (try read(statement), true) : (nil, false)
      }
    }

    private static var outOfOrder: SyncError {
      SyncError(.storeUnreadable, during: "reading a damaged store", "Rows are out of order.")
    }
  }
#endif
