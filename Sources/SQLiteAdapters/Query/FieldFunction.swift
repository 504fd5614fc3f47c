#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// SQL functions that read a payload's field, an item of a value list, and what a text means.
  enum FieldFunction {
    static let field = "canonicalsync_field"
    static let item = "canonicalsync_item"
    static let meaning = "canonicalsync_meaning"

    /// Registers the functions on a connection.
    static func install(on handle: OpaquePointer) {
      // Only this library's statements may call them, never a schema from another source.
      let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
      sqlite3_create_function_v2(
        handle, field, 3, flags, nil, { context, _, arguments in FieldFunction.lift(context, arguments) },
        nil, nil, nil)
      sqlite3_create_function_v2(
        handle, item, 2, flags, nil, { context, _, arguments in FieldFunction.pick(context, arguments) }, nil,
        nil, nil)
      sqlite3_create_function_v2(
        handle, meaning, 2, flags, nil,
        { context, _, arguments in FieldFunction.interpret(context, arguments) }, nil, nil, nil)
    }

    /// Replaces a text by what it means.
    private static func interpret(_ context: OpaquePointer?, _ arguments: Arguments) {
      guard let value = arguments?[0], let name = arguments?[1] else { return }
      guard sqlite3_value_type(value) == SQLITE_TEXT,
        let meaning = TextMeaning(rawValue: String(decoding: bytes(of: name), as: UTF8.self))
      else { return sqlite3_result_value(context, value) }
      give(meaning.value(of: .string(String(decoding: bytes(of: value), as: UTF8.self))), to: context)
    }

    private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>?

    private static func lift(_ context: OpaquePointer?, _ arguments: Arguments) {
      guard let payload = arguments?[0], let name = arguments?[1], let isKey = arguments?[2] else { return }
      let field = StoredField(
        name: FieldName(String(decoding: bytes(of: name), as: UTF8.self)),
        isKey: sqlite3_value_int(isKey) != 0)
      let values = FieldLifter([field]).values(in: Payload(Array(bytes(of: payload))))
      give(values.first ?? .null, to: context)
    }

    private static func pick(_ context: OpaquePointer?, _ arguments: Arguments) {
      guard let list = arguments?[0], let place = arguments?[1] else { return }
      give(ValueList.item(Int(sqlite3_value_int64(place)), of: bytes(of: list)), to: context)
    }

    private static func bytes(of value: OpaquePointer) -> UnsafeRawBufferPointer {
      let address = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      return UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : count)
    }

    /// Returns a value to SQL in the form in which columns store it.
    private static func give(_ value: FieldValue, to context: OpaquePointer?) {
      switch value {
      case .null: sqlite3_result_null(context)
      case .integer(let value): sqlite3_result_int64(context, value)
      case .double(let value): sqlite3_result_double(context, value)
      case .string(var value):
        value.withUTF8 { csqlite_result_text(context, $0.baseAddress, Int32($0.count)) }
      case .boolean(let value): give([value ? 1 : 0], to: context)
      case .composite: give([2], to: context)
      }
    }

    private static func give(_ bytes: [UInt8], to context: OpaquePointer?) {
      bytes.withUnsafeBytes { csqlite_result_blob(context, $0.baseAddress, Int32($0.count)) }
    }
  }

  /// Many values in one parameter, because SQLite limits the number of parameters.
  ///
  /// The encoding begins with the offset of each item and of the end, four bytes each. The items
  /// follow: a letter and the value's bytes.
  enum ValueList {
    static func encode(_ values: [FieldValue]) -> [UInt8] {
      var items: [UInt8] = []
      var bytes: [UInt8] = []
      let start = (values.count + 1) * 4
      for value in values {
        append(UInt32(truncatingIfNeeded: start + items.count), to: &bytes)
        append(value, to: &items)
      }
      append(UInt32(truncatingIfNeeded: start + items.count), to: &bytes)
      return bytes + items
    }

    static func item(_ index: Int, of list: UnsafeRawBufferPointer) -> FieldValue {
      guard index >= 0, (index + 2) * 4 <= list.count else { return .null }
      let start = Int(list.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      let end = Int(list.loadUnaligned(fromByteOffset: index * 4 + 4, as: UInt32.self))
      guard start < end, end <= list.count else { return .null }
      let content = UnsafeRawBufferPointer(rebasing: list[start + 1..<end])
      switch list[start] {
      case UInt8(ascii: "i") where content.count == 8: return .integer(content.loadUnaligned(as: Int64.self))
      case UInt8(ascii: "d") where content.count == 8: return .double(content.loadUnaligned(as: Double.self))
      case UInt8(ascii: "s"): return .string(String(decoding: content, as: UTF8.self))
      case UInt8(ascii: "b"): return .boolean(content.first == 1)
      case UInt8(ascii: "c"): return .composite
      default: return .null
      }
    }

    private static func append(_ value: FieldValue, to bytes: inout [UInt8]) {
      switch value {
      case .null: bytes.append(UInt8(ascii: "n"))
      case .integer(let value):
        bytes.append(UInt8(ascii: "i"))
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
      case .double(let value):
        bytes.append(UInt8(ascii: "d"))
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
      case .string(let value):
        bytes.append(UInt8(ascii: "s"))
        bytes.append(contentsOf: value.utf8)
      case .boolean(let value): bytes.append(contentsOf: [UInt8(ascii: "b"), value ? 1 : 0])
      case .composite: bytes.append(UInt8(ascii: "c"))
      }
    }

    private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
      withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
  }
#endif
