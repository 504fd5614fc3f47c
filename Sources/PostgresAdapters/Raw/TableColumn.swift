#if Postgres
  import CanonicalSyncDatabases
  import SyncModels

  /// The columns of a table as PostgreSQL has them: some keys take several.
  protocol TableColumn: EntryColumn {
    typealias Part = (name: String, element: ColumnArray.Element)

    /// The type of the values; that of the key does not count.
    var element: ColumnArray.Element { get }
    /// The columns of the key.
    static var key: [Part] { get }
  }

  extension TableColumn {
    private static var parts: [Part] {
      allCases.flatMap { $0.rawValue == 1 ? key : [($0.name, $0.element)] }
    }

    static var names: [String] { parts.map(\.name) }
    static var elements: [ColumnArray.Element] { parts.map(\.element) }

    /// The place of the column with a number.
    static func place(_ number: Int) -> Int { number > 1 ? number + key.count - 1 : number }
  }

  /// A row of a result that begins with the columns of a table.
  struct KeyedRow<Column: TableColumn>: EntryRow {
    let row: ResultRow

    init(_ row: ResultRow) { self.row = row }

    func isNull(_ number: Int) -> Bool { row.isNull(Column.place(number)) }
    func integer(_ number: Int) -> Int64 { row.integer(Column.place(number)) }
    func bytes(_ number: Int) -> [UInt8] { row.bytes(Column.place(number)) }
    func text(_ number: Int) -> String { row.text(Column.place(number)) }
    func holds(_ word: StaticString, in number: Int) -> Bool { row.holds(word, in: Column.place(number)) }
    func optionalText(_ number: Int) -> String? { row.optionalText(Column.place(number)) }
    func version(_ number: Int) -> Version { row.version(Column.place(number)) }
    // Rights keep other programs from the tables.
    func noteDamage(_ what: String) {}
  }

  /// Rows to add to a table, column by column.
  struct TableArrays<Column: TableColumn> {
    var arrays = Column.elements.map { ColumnArray($0) }

    subscript(column: Column) -> ColumnArray {
      get { arrays[Column.place(column.rawValue)] }
      _modify { yield &arrays[Column.place(column.rawValue)] }
    }

    /// Appends a version and an entity tag, or null, to four columns.
    mutating func append(_ version: Version?, tag: String?, at column: Column) {
      let place = Column.place(column.rawValue)
      if let version { return arrays.append(version, tag: tag, at: place) }
      for place in place...place + 3 { arrays[place].appendNull() }
    }

    /// Appends a stamp, or null, to three columns.
    mutating func append(_ stamp: EditStamp?, at column: Column) {
      let place = Column.place(column.rawValue)
      arrays[place].append(stamp?.physical.microseconds)
      arrays[place + 1].append(stamp.map { Int64($0.counter) })
      arrays[place + 2].append(stamp?.replica)
    }
  }

  extension ColumnArray {
    /// Appends a constant word of this library.
    mutating func append(_ word: StaticString) { append(word.description) }
  }
#endif
