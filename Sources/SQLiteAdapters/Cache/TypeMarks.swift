#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// The marks of one type in the file, of which chunks are read as they are needed.
  final class TypeMarks {
    let type: RecordType
    private let connection: Connection
    private var bitmap = MarkBitmap()

    init(of type: RecordType, on connection: Connection) {
      self.type = type
      self.connection = connection
    }

    func isMarked(_ row: Int64) throws(SyncError) -> Bool {
      if let isMarked = bitmap.isMarked(row) { return isMarked }
      try load(row)
      return bitmap.isMarked(row) ?? false
    }

    func mark(_ rows: [Int64]) throws(SyncError) {
      var rest = rows[...]
      while let row = bitmap.markKnown(&rest) { try load(row) }
    }

    /// Writes the new marks.
    func flush() throws(SyncError) {
      for (number, bits) in bitmap.takeChanges() {
        try connection.run(
          "INSERT OR REPLACE INTO marks VALUES (?, ?, ?)", .text(type.rawValue), .number(number),
          .bytes(bits))
      }
    }

    /// Removes all marks.
    func clear() throws(SyncError) {
      bitmap = MarkBitmap()
      try connection.run("DELETE FROM marks WHERE type = ?", .text(type.rawValue))
    }

    /// The number of marked rows, live or not.
    func count() throws(SyncError) -> Int {
      let statement = try connection.statement("SELECT bits FROM marks WHERE type = ?")
      try statement.bind(type.rawValue, at: 1)
      defer { statement.reset() }
      var count = 0
      while try statement.step() {
        count += statement.bytes(0).reduce(0) { $0 + $1.nonzeroBitCount }
      }
      return count
    }

    private func load(_ row: Int64) throws(SyncError) {
      let number = row >> MarkBitmap.chunkShift
      let bits = try connection.first(
        "SELECT bits FROM marks WHERE type = ? AND chunk = ?", .text(type.rawValue), .number(number)
      ) { $0.bytes(0) }
      bitmap.add(bits, as: number)
    }
  }
#endif
