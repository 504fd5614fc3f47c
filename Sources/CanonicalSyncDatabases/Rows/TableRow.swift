package import SyncModels

/// A row of a result, by the places of its columns.
package protocol EntryRow {
  func isNull(_ place: Int) -> Bool
  func integer(_ place: Int) -> Int64
  func text(_ place: Int) -> String
  func optionalText(_ place: Int) -> String?
  func bytes(_ place: Int) -> [UInt8]
  /// Reads a version from three columns.
  func version(_ place: Int) -> Version

  /// Whether a text equals a constant word of this library.
  func holds(_ word: StaticString, in place: Int) -> Bool

  /// Reports a value that the library never writes.
  func noteDamage(_ what: String)
}

/// A row of a result that begins with the columns of a table.
package struct TableRow<Column: EntryColumn, Row: EntryRow> {
  let row: Row

  package init(_ row: Row) { self.row = row }

  package func isNull(_ column: Column) -> Bool { row.isNull(column.rawValue) }
  package func integer(_ column: Column) -> Int64 { row.integer(column.rawValue) }
  package func bytes(_ column: Column) -> [UInt8] { row.bytes(column.rawValue) }
  package func text(_ column: Column) -> String { row.text(column.rawValue) }
  package func optionalText(_ column: Column) -> String? { row.optionalText(column.rawValue) }
  package func version(_ column: Column) -> Version { row.version(column.rawValue) }

  package func time(_ column: Column) -> Timestamp {
    Timestamp(microseconds: integer(column))
  }

  package func holds(_ word: StaticString, in column: Column) -> Bool {
    row.holds(word, in: column.rawValue)
  }

  /// The number in the column behind those of the table.
  package var integerBehind: Int64 { row.integer(Column.allCases.count) }

  /// Reads a stamp from three columns.
  package func stamp(_ column: Column) -> EditStamp {
    let counter = UInt32(exactly: row.integer(column.rawValue + 1))
    if counter == nil { row.noteDamage("a stamp with an impossible counter") }
    return EditStamp(
      physical: time(column), counter: counter ?? 0, replica: row.text(column.rawValue + 2))
  }

  /// Reads an edit's content; a deletion has no schema version.
  package func content(payload: Column, schemaVersion: Column) -> Edit.Content {
    let isDeletion = isNull(schemaVersion)
    if isDeletion != isNull(payload) {
      row.noteDamage("an edit's content without its schema version, or the reverse")
    }
    return isDeletion
      ? .deletion : .upsert(Payload(bytes(payload)), schemaVersion: Int(integer(schemaVersion)))
  }

  /// Reads a copy without fields from its version's columns, the schema version and the payload.
  package func copy(
    of id: RecordID, version: Column, tag: Column, schemaVersion: Column, payload: Column
  ) -> Record {
    Record(
      id: id, version: self.version(version), entityTag: optionalText(tag),
      schemaVersion: Int(integer(schemaVersion)), payload: Payload(bytes(payload)), fields: [])
  }
}
