#if SQLite
  import CSQLite

  /// What a column holds in a statement's present row, until the next step.
  ///
  /// Each question to a column finds it anew and asks after a lock that nobody shares; a value that is found once answers several
  /// questions. A connection is used by one thread at a time, so the value needs no protection from others.
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

    /// The text, byte for byte; `nil` for anything else, bytes that are no UTF-8 included.
    ///
    /// What was mended on the way would be another text: no look for it would find what it was read from, and what comes after it may be that again.
    var text: String? {
      guard type == SQLITE_TEXT else { return nil }
      // The address first: asking for the length afterwards is what SQLite's documentation calls safe.
      let address = sqlite3_value_text(handle)
      let count = Int(sqlite3_value_bytes(handle))
      let bytes = UnsafeBufferPointer(start: address, count: address == nil ? 0 : count)
      // `String(validating:as:)` asks for the metadata of its types each time, which costs twice as much as the text.
      var text = String(decoding: bytes, as: UTF8.self)
      let isSame = text.withUTF8 { csqlite_is_same($0.baseAddress, $0.count, bytes.baseAddress, bytes.count) }
      return isSame != 0 ? text : nil
    }

    /// The bytes of a blob or a text.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
      let address = sqlite3_value_blob(handle)
      let count = Int(sqlite3_value_bytes(handle))
      return body(UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : count))
    }

    var bytes: [UInt8] { withBytes { Array($0) } }

    /// Whether a blob or a text has the same bytes.
    func holds(_ bytes: [UInt8]) -> Bool {
      withBytes { own in
        bytes.withUnsafeBytes { csqlite_is_same(own.baseAddress, own.count, $0.baseAddress, $0.count) != 0 }
      }
    }
  }
#endif
