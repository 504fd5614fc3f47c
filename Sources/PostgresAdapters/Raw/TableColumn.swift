#if Postgres
  import SyncModels

  /// The columns of a table, in the order of reads and writes.
  ///
  /// A value of several columns, such as a key or a version, is read and written at the first one.
  protocol TableColumn: RawRepresentable<Int>, CaseIterable, CodingKey {
    /// The type of the values.
    var element: ColumnArray.Element { get }
  }

  extension TableColumn {
    /// The column's name in SQL, which is that of the case with underscores.
    ///
    /// The compiler gives a coding key the name of its case, also in a program without metadata for
    /// reflection.
    var name: String {
      var name = ""
      for character in stringValue {
        name += character.isUppercase ? "_" + character.lowercased() : String(character)
      }
      return name
    }

    static var names: [String] { allCases.map(\.name) }
    static var elements: [ColumnArray.Element] { allCases.map(\.element) }
  }

  /// A row of a result that begins with the columns of a table.
  struct TableRow<Column: TableColumn> {
    let row: ResultRow

    init(_ row: ResultRow) { self.row = row }

    func isNull(_ column: Column) -> Bool { row.isNull(column.rawValue) }
    func integer(_ column: Column) -> Int64 { row.integer(column.rawValue) }
    func optionalInteger(_ column: Column) -> Int64? { row.optionalInteger(column.rawValue) }
    func time(_ column: Column) -> Timestamp { Timestamp(microseconds: integer(column)) }
    func bool(_ column: Column) -> Bool { row.bool(column.rawValue) }
    func bytes(_ column: Column) -> [UInt8] { row.bytes(column.rawValue) }
    func text(_ column: Column) -> String { row.text(column.rawValue) }
    func optionalText(_ column: Column) -> String? { row.optionalText(column.rawValue) }
    func key(_ column: Column) -> String { row.key(column.rawValue) }
    func version(_ column: Column) -> Version { row.version(column.rawValue) }

    /// Reads a stamp from three columns.
    func stamp(_ column: Column) -> EditStamp {
      EditStamp(
        physical: time(column), counter: UInt32(clamping: row.integer(column.rawValue + 1)),
        replica: row.text(column.rawValue + 2))
    }

    /// Reads an edit's content; a deletion has no schema version.
    func content(payload: Column, schemaVersion: Column) -> Edit.Content {
      guard let version = optionalInteger(schemaVersion) else { return .deletion }
      return .upsert(Payload(bytes(payload)), schemaVersion: Int(version))
    }

    /// The number in the column behind those of the table.
    var integerBehind: Int64 { row.integer(Column.allCases.count) }
  }

  /// Rows to add to a table, column by column.
  struct TableArrays<Column: TableColumn> {
    var arrays = Column.elements.map { ColumnArray($0) }

    subscript(column: Column) -> ColumnArray {
      get { arrays[column.rawValue] }
      _modify { yield &arrays[column.rawValue] }
    }

    /// Appends null to some adjacent columns.
    mutating func appendNull(from first: Column, through last: Column) {
      for place in first.rawValue...last.rawValue { arrays[place].appendNull() }
    }

    mutating func append(key: String, at column: Column) { arrays.append(key: key, at: column.rawValue) }

    /// Appends a version and an entity tag to four columns.
    mutating func append(_ version: Version, tag: String?, at column: Column) {
      arrays.append(version, tag: tag, at: column.rawValue)
    }

    /// Appends a stamp to three columns.
    mutating func append(_ stamp: EditStamp, at column: Column) {
      self[column].append(stamp.physical.microseconds)
      arrays[column.rawValue + 1].append(Int64(stamp.counter))
      arrays[column.rawValue + 2].append(stamp.replica)
    }

    /// Appends the schema version of an edit; null for a deletion.
    mutating func append(schemaVersionOf content: Edit.Content, at column: Column) {
      if case .upsert(_, let version) = content {
        self[column].append(Int64(version))
      } else {
        self[column].appendNull()
      }
    }
  }
#endif
