#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// A prepared statement, used only where its connection is used.
  ///
  /// Parameters count from 1 and columns from 0, as in SQLite.
  final class Statement {
    private let handle: OpaquePointer
    // The connection finalizes its statements before it is freed, and owns all of them.
    private unowned(unsafe) let connection: Connection

    init(handle: OpaquePointer, connection: Connection) {
      self.handle = handle
      self.connection = connection
    }

    /// Frees the statement. It cannot be used afterwards.
    func finalize() {
      sqlite3_finalize(handle)
    }

    /// Steps to the next row; false if there is none.
    func step() throws(SyncError) -> Bool {
      try connection.demandHealth()
      switch sqlite3_step(handle) {
      case SQLITE_ROW: return true
      case SQLITE_DONE: return false
      default: throw connection.failed()
      }
    }

    /// Runs to the end and resets the statement for the next run.
    func run() throws(SyncError) {
      defer { reset() }
      while try step() {}
    }

    /// Resets the statement for the next run. Bindings stay.
    func reset() {
      // The result repeats that of the last step, which was handled.
      sqlite3_reset(handle)
    }

    /// Clears all bindings, so that none points to borrowed bytes.
    func clear() {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }
  }

  // MARK: Parameters

  extension Statement {
    func bind(_ value: Int64, at index: Int32) throws(SyncError) {
      try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ value: Int64?, at index: Int32) throws(SyncError) {
      if let value { try bind(value, at: index) } else { try bindNull(at: index) }
    }

    func bind(_ value: Double, at index: Int32) throws(SyncError) {
      try check(sqlite3_bind_double(handle, index, value))
    }

    func bind(_ value: String, at index: Int32) throws(SyncError) {
      var value = value
      try demandRoom(for: value.utf8.count)
      try check(value.withUTF8 { csqlite_bind_text(handle, index, $0.baseAddress, Int32($0.count)) })
    }

    /// Binds a constant word of this library, without a copy.
    func bind(word: StaticString, at index: Int32) throws(SyncError) {
      try check(
        csqlite_bind_borrowed_text(handle, index, word.utf8Start, Int32(word.utf8CodeUnitCount)))
    }

    func bind(_ value: String?, at index: Int32) throws(SyncError) {
      if let value { try bind(value, at: index) } else { try bindNull(at: index) }
    }

    func bind(_ bytes: [UInt8], at index: Int32) throws(SyncError) {
      try demandRoom(for: bytes.count)
      try check(bytes.withUnsafeBytes { csqlite_bind_blob(handle, index, $0.baseAddress, Int32($0.count)) })
    }

    func bindNull(at index: Int32) throws(SyncError) {
      try check(sqlite3_bind_null(handle, index))
    }

    /// Runs with borrowed bytes, which SQLite reads in place.
    func run<R>(
      lending bytes: ArraySlice<UInt8>, at index: Int32, _ body: () throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try demandRoom(for: bytes.count)
      return try bytes.withUnsafeBufferPointer { (buffer) throws(SyncError) -> R in
        // In all cases the statement is reset before another value is bound here.
        defer { sqlite3_reset(handle) }
        try check(csqlite_bind_borrowed_blob(handle, index, buffer.baseAddress, Int32(buffer.count)))
        return try body()
      }
    }

    /// As ``run(lending:at:_:)``, with NULL where there are no bytes.
    func run<R>(
      lendingOptional payload: Payload?, at index: Int32, _ body: () throws(SyncError) -> R
    ) throws(SyncError) -> R {
      if let payload { return try run(lending: payload.bytes, at: index, body) }
      try bindNull(at: index)
      return try body()
    }

    /// Runs a statement without rows, with a borrowed text that SQLite reads in place.
    func run(lending text: String, at index: Int32) throws(SyncError) {
      try withLent(text, at: index) { () throws(SyncError) in try run() }
    }

    /// Runs a body with a borrowed text bound, which SQLite reads in place.
    ///
    /// The body has to reset the statement.
    func withLent<R>(
      _ text: String, at index: Int32, _ body: () throws(SyncError) -> R
    ) throws(SyncError) -> R {
      var text = text
      try demandRoom(for: text.utf8.count)
      // `withUTF8` does not support typed errors.
      return try text.withUTF8 { buffer in
        Result { () throws(SyncError) in
          try check(csqlite_bind_borrowed_text(handle, index, buffer.baseAddress, Int32(buffer.count)))
          return try body()
        }
      }.get()
    }

    /// Binds a part of a buffer as a text.
    ///
    /// SQLite reads it in place until the statement is reset.
    func bind(lentText bytes: UnsafeRawBufferPointer, at index: Int32) throws(SyncError) {
      try demandRoom(for: bytes.count)
      try check(csqlite_bind_borrowed_text(handle, index, bytes.baseAddress, Int32(bytes.count)))
    }

    /// Binds a part of a buffer as a blob.
    ///
    /// SQLite reads it in place until the statement is reset.
    func bind(lent bytes: UnsafeRawBufferPointer, at index: Int32) throws(SyncError) {
      try demandRoom(for: bytes.count)
      try check(csqlite_bind_borrowed_blob(handle, index, bytes.baseAddress, Int32(bytes.count)))
    }

    private func demandRoom(for count: Int) throws(SyncError) {
      guard count < Int(Int32.max) else {
        throw SQLiteFailure(code: SQLITE_TOOBIG).error(during: "binding bytes")
      }
    }

    private func check(_ code: Int32) throws(SyncError) {
      guard code == SQLITE_OK else { throw connection.failed() }
    }
  }

  // MARK: Columns

  extension Statement: EntryRow {
    func isNull(_ column: Int) -> Bool {
      sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_NULL
    }

    func isText(_ column: Int) -> Bool {
      sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_TEXT
    }

    /// The number of columns of a row.
    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    func type(_ column: Int) -> Int32 {
      sqlite3_column_type(handle, Int32(truncatingIfNeeded: column))
    }

    func integer(_ column: Int) -> Int64 {
      sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column))
    }

    func double(_ column: Int) -> Double {
      sqlite3_column_double(handle, Int32(truncatingIfNeeded: column))
    }

    /// The value of a column, for several questions about it.
    func value(_ column: Int) -> ColumnValue {
      ColumnValue(sqlite3_column_value(handle, Int32(truncatingIfNeeded: column)))
    }

    /// Reads a text; the transaction fails if the column has another type.
    func text(_ column: Int) -> String {
      if let text = value(column).text { return text }
      connection.noteDamage("a value that is not a text")
      return ""
    }

    func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// Reads a count; the transaction fails if the number is not one.
    func count(_ column: Int) -> Int {
      let number = integer(column)
      if StoredNumbers.counts.contains(number) { return Int(number) }
      connection.noteDamage("an impossible count")
      return 0
    }

    /// Compares a text or a blob with a text: -1, 0 or 1 for less, equal or greater.
    func order(_ column: Int, against text: String) -> Int {
      var text = text
      return text.withUTF8 {
        Int(
          csqlite_compare_column(
            handle, Int32(truncatingIfNeeded: column), $0.baseAddress, Int32(clamping: $0.count)
          ).signum())
      }
    }

    /// Whether a text equals a constant word of this library.
    func holds(_ word: StaticString, in column: Int) -> Bool {
      csqlite_compare_column(
        handle, Int32(truncatingIfNeeded: column), word.utf8Start, Int32(word.utf8CodeUnitCount)) == 0
    }

    /// Whether a blob has exactly these bytes.
    func hasBytes(_ column: Int, _ bytes: ArraySlice<UInt8>) -> Bool {
      bytes.withUnsafeBufferPointer {
        csqlite_compare_column(
          handle, Int32(truncatingIfNeeded: column), $0.baseAddress, Int32(clamping: $0.count)) == 0
      }
    }

    func bytes(_ column: Int) -> [UInt8] {
      value(column).bytes
    }

    /// Reports a column value that the library never writes: the transaction fails.
    func noteDamage(_ what: String) {
      connection.noteDamage(what)
    }
  }

  // SQLite orders NULL, numbers, texts and blobs in this order. Within each type its order is that
  // of field values. An index over the columns is therefore an index over the values, and SQL
  // comparisons compare values.
  extension Statement {
    /// Binds a field's value in the form in which columns store it.
    func bind(_ value: FieldValue, at index: Int32) throws(SyncError) {
      switch value {
      case .null: try bindNull(at: index)
      case .integer(let value): try bind(value, at: index)
      case .double(let value): try bind(value, at: index)
      case .string(let value): try bind(value, at: index)
      case .boolean(let value): try bind([value ? 1 : 0], at: index)
      case .composite: try bind([2], at: index)
      }
    }

    /// Reads a field's value from a column.
    func fieldValue(_ column: Int) -> FieldValue {
      let value = value(column)
      switch value.type {
      case SQLITE_INTEGER: return .integer(value.integer)
      case SQLITE_FLOAT: return .double(value.double)
      case SQLITE_TEXT: return .string(text(column))
      case SQLITE_BLOB:
        return value.withBytes { bytes in
          if bytes.elementsEqual([2]) { .composite } else { .boolean(bytes.elementsEqual([1])) }
        }
      default: return .null
      }
    }
  }
#endif
