#if SQLite
  import SyncModels

  /// The records in a statement's rows, many of whose payloads lie in one buffer: a buffer for each would cost as much as reading the row.
  ///
  /// Who keeps one of the records keeps the buffer, so it is not large, and has little room that nothing lies in.
  struct RecordRows {
    private let statement: Statement
    private let table: EntityTable
    private var records: [Record] = []
    // The payloads of the last records, which have none yet, and where each ends.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let bufferSize = 16 << 10

    init(_ statement: Statement, of table: EntityTable) {
      self.statement = statement
      self.table = table
    }

    /// Reads all rows that are left.
    mutating func rest() throws(SyncError) -> [Record] {
      guard table.hasAllFields else {
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

    /// Gives the last records their payloads.
    private mutating func settlePayloads() {
      // The buffer itself, unless most of it is room: then a copy without it.
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
#endif
