#if SQLite
  import CanonicalSyncCSQLite

  /// The value of one column in a statement's current row, valid until the next step.
  ///
  /// Each call for a column finds the value again and takes an uncontended lock. One value object
  /// answers several questions instead. A connection is used by one thread at a time, so the value
  /// needs no protection.
  struct ColumnValue {
    private let handle: OpaquePointer?

    init(_ handle: OpaquePointer?) {
      self.handle = handle
    }

    /// `SQLITE_INTEGER` and so on.
    var type: Int32 { sqlite3_value_type(handle) }

    var isNull: Bool { type == SQLITE_NULL }

    var integer: Int64 { sqlite3_value_int64(handle) }

    var double: Double { sqlite3_value_double(handle) }

    /// The text, byte for byte; `nil` for other types and for invalid UTF-8.
    ///
    /// A repaired text would be a different text. A lookup would not find its row, and a repaired
    /// lower bound could return the same row again.
    var text: String? {
      guard type == SQLITE_TEXT else { return nil }
      // The address first: SQLite's documentation recommends asking for the length afterwards.
      let address = sqlite3_value_text(handle)
      let count = Int(sqlite3_value_bytes(handle))
      let bytes = UnsafeBufferPointer(start: address, count: address == nil ? 0 : count)
      // `String(validating:as:)` asks for type metadata each time, which costs twice as much as the
      // text.
      var text = String(decoding: bytes, as: UTF8.self)
      let isSame = text.withUTF8 { csqlite_is_same($0.baseAddress, $0.count, bytes.baseAddress, bytes.count) }
      return isSame != 0 ? text : nil
    }

    /// Provides the bytes of a blob or a text.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
      let address = sqlite3_value_blob(handle)
      let count = Int(sqlite3_value_bytes(handle))
      return body(UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : count))
    }

    var bytes: [UInt8] { withBytes { Array($0) } }

    /// Whether a blob or a text has exactly these bytes.
    func holds(_ bytes: [UInt8]) -> Bool {
      withBytes { own in
        bytes.withUnsafeBytes { csqlite_is_same(own.baseAddress, own.count, $0.baseAddress, $0.count) != 0 }
      }
    }
  }
#endif
