#if Postgres
  import SyncModels

  /// Field values as bytes whose order is the order of the values.
  ///
  /// | value | bytes |
  /// |---|---|
  /// | number | 1, the greatest `Double` up to it, the rest of an integer, its text |
  /// | string | 2, its UTF-8 |
  /// | boolean | 3, `false` or `true` |
  /// | array or object | 4, `[...]` |
  ///
  /// Null is SQL's NULL. Equal numbers have equal bytes, whatever their spelling.
  enum FieldCode {
    /// The longest part of a value that indexes hold.
    static let indexedSize = 200

    /// The first byte of a JSON type's values.
    static func first(of value: FieldValue) -> UInt8 { UInt8(truncatingIfNeeded: value.rank) }

    /// The bytes of a value; `nil` for null.
    static func bytes(of value: FieldValue) -> [UInt8]? {
      switch value {
      case .null: return nil
      case .integer(let number): return bytes(of: number)
      case .double(let number):
        if number.isNaN { return nil }
        if let whole = Int64(exactly: number) { return bytes(of: whole) }
        return bytes(floor: number, left: 0, text: "\(number)")
      case .string(let text): return [2] + Array(text.utf8)
      case .boolean(let isTrue): return [3] + Array((isTrue ? "true" : "false").utf8)
      case .composite: return [4] + Array("[...]".utf8)
      }
    }

    private static func bytes(of number: Int64) -> [UInt8] {
      var floor = Double(number)
      // The nearest double may be greater, also than every integer.
      if Int64(exactly: floor).map({ $0 > number }) ?? true { floor = floor.nextDown }
      let left = number - (Int64(exactly: floor) ?? number)
      return bytes(floor: floor, left: UInt16(truncatingIfNeeded: left), text: "\(number)")
    }

    private static func bytes(floor: Double, left: UInt16, text: String) -> [UInt8] {
      let pattern = (floor == 0 ? 0 : floor).bitPattern
      let ordered = pattern >> 63 == 1 ? ~pattern : pattern | 1 << 63
      var bytes: [UInt8] = [1]
      bytes.reserveCapacity(11 + text.utf8.count)
      withUnsafeBytes(of: ordered.bigEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: left.bigEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: text.utf8)
      return bytes
    }

    /// The value of some bytes; null for bytes of another form.
    static func value(of bytes: UnsafeRawBufferPointer) -> FieldValue {
      switch bytes.first {
      case 1 where bytes.count >= 11:
        let ordered = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        let left = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt16.self))
        let floor = Double(bitPattern: ordered >> 63 == 1 ? ordered & ~(1 << 63) : ~ordered)
        guard let whole = Int64(exactly: floor) else { return .double(floor) }
        let (number, overflow) = whole.addingReportingOverflow(Int64(left))
        return overflow ? .double(floor) : .integer(number)
      case 2: return .string(String(decoding: bytes.dropFirst(), as: UTF8.self))
      case 3: return .boolean(bytes.count == 5)
      case 4: return .composite
      default: return .null
      }
    }
  }

  extension [ColumnArray] {
    /// Appends a field's value to a column of bytes.
    mutating func append(field value: FieldValue, at place: Int) {
      self[place].append(FieldCode.bytes(of: value)?[...])
    }
  }

  extension ResultRow {
    /// The field value in a column.
    func field(_ column: Int) -> FieldValue {
      withBytes(column) { $0.map { FieldCode.value(of: $0) } ?? .null }
    }
  }
#endif
