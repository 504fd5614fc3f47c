#if SQLite
  import SyncModels

  /// Reads records from a statement's rows, with many payloads in one buffer.
  ///
  /// A buffer for each payload would cost as much as reading the row. A record keeps its whole
  /// buffer alive, so the buffer is small and has little unused room.
  struct RecordRows {
    private let statement: Statement
    private let table: EntityTable
    private var records: [Record] = []
    // The payloads that no record has received yet, and the end of each.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let bufferSize = 16 << 10

    init(_ statement: Statement, of table: EntityTable) {
      self.statement = statement
      self.table = table
    }

    /// Reads all remaining rows.
    mutating func rest() throws(SyncError) -> [Record] {
      guard table.derived.hasAllFields else {
        while try statement.step() { records.append(statement.record(of: table)) }
        return records
      }
      while try statement.step() {
        statement.value(EntityTable.payloadColumn).withBytes { payload in
          if bytes.count + payload.count > Self.bufferSize { settlePayloads() }
          if bytes.isEmpty { bytes.reserveCapacity(Self.bufferSize) }
          bytes.append(contentsOf: payload)
        }
        ends.append(bytes.count)
        records.append(statement.record(of: table, payload: Payload([]), fields: statement.fields(of: table)))
      }
      settlePayloads()
      return records
    }

    /// Assigns the payloads in the buffer to their records.
    private mutating func settlePayloads() {
      // If most of the buffer is unused, a copy without the unused room.
      let buffer = bytes.count > Self.bufferSize / 2 ? bytes : bytes.withUnsafeBufferPointer { Array($0) }
      var start = 0
      for (place, end) in zip(records.indices.suffix(ends.count), ends) {
        records[place].payload = Payload(buffer[start..<end])
        start = end
      }
      bytes = []
      ends.removeAll(keepingCapacity: true)
    }
  }

  extension Statement {
    /// Reads the record from a row of ``EntityTable/recordColumns``.
    func record(of table: EntityTable) -> Record {
      let payload = Payload(bytes(EntityTable.payloadColumn))
      let fields =
        table.derived.hasAllFields
        ? fields(of: table) : FieldLifter(table.entity.storedFields).values(in: payload)
      return record(of: table, payload: payload, fields: fields)
    }

    /// As ``record(of:)``, with a given payload and given fields.
    func record(of table: EntityTable, payload: Payload, fields: [FieldValue]) -> Record {
      Record(
        id: RecordID(type: table.entity.type, key: text(0)), version: version(1), entityTag: optionalText(4),
        schemaVersion: Int(integer(5)), payload: payload, fields: fields)
    }

    /// Reads the fields from the columns that follow the payload.
    func fields(of table: EntityTable) -> [FieldValue] {
      let columns = EntityTable.payloadColumn + 1..<table.columnBehindRecord
      var fields: [FieldValue] = []
      // `map` would also ask for the array's size, which costs more for few columns.
      fields.reserveCapacity(columns.count)
      for column in columns { fields.append(fieldValue(column)) }
      return fields
    }

    /// Reads a version from three columns.
    func version(_ column: Int) -> Version {
      Version(
        epoch: integer(column), sequence: integer(column + 1),
        modifiedAt: Timestamp(microseconds: integer(column + 2)))
    }
  }
#endif
