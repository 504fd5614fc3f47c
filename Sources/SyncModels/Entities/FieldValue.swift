import SyncJSON

/// The value of a record's field, as far as stores compare and sort it.
///
/// Values of different JSON types never compare equal. The order is null (and missing), numbers,
/// strings, booleans, then arrays and objects. Strings compare by UTF-8 bytes, numbers by their
/// exact value. The order is the same in every store.
public enum FieldValue: Sendable {
  /// `null`, or a missing member.
  case null
  /// A number spelled without fraction or exponent that fits 64 bits.
  case integer(Int64)
  /// Any other number. One beyond the range of `Double` is infinite. Not-a-number equals nothing
  /// and sorts as null.
  case double(Double)
  /// A string, unescaped.
  case string(String)
  /// `true` or `false`.
  case boolean(Bool)
  /// An array or an object. The contents are not compared.
  case composite
}

extension FieldValue: Hashable {
  /// Whether two values have one JSON type and are equal; `5` equals `5.0`.
  public static func == (a: FieldValue, b: FieldValue) -> Bool {
    switch (a, b) {
    case (.null, .null), (.composite, .composite): true
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)): Double(exactly: a) == b
    case (.string(let a), .string(let b)): a.isSameUTF8(as: b)
    case (.boolean(let a), .boolean(let b)): a == b
    default: false
    }
  }

  /// Hashes equal values alike, `5` and `5.0` included.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(Double(value))
    case .double(let value): hasher.combine(value)
    case .string(let value): value.hashUTF8(into: &hasher)
    case .boolean(let value): hasher.combine(value)
    case .composite: hasher.combine(1)
    }
  }
}

extension FieldValue: Comparable {
  /// Orders by JSON type, then within the type.
  public static func < (a: FieldValue, b: FieldValue) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.double(let a), .double(let b)) where !a.isNaN && !b.isNaN: a < b
    case (.integer(let a), .double(let b)) where !b.isNaN: isLess(a, b)
    case (.double(let a), .integer(let b)) where !a.isNaN: isLess(a, b)
    case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.boolean(let a), .boolean(let b)): !a && b
    default: a.rank < b.rank
    }
  }

  /// The position of the JSON type in the order of all values.
  package var rank: Int {
    switch self {
    case .null: 0
    case .double(let value) where value.isNaN: 0
    case .integer, .double: 1
    case .string: 2
    case .boolean: 3
    case .composite: 4
    }
  }

  // Converting the integer would round it: beyond 2^53 two different numbers would compare equal.
  private static func isLess(_ a: Int64, _ b: Double) -> Bool {
    if b >= 0x1p63 { return true }
    if b < -0x1p63 { return false }
    let whole = b.rounded(.down)
    return Int64(whole) > a || (Int64(whole) == a && b > whole)
  }

  private static func isLess(_ a: Double, _ b: Int64) -> Bool {
    if a >= 0x1p63 { return false }
    if a < -0x1p63 { return true }
    return Int64(a.rounded(.down)) < b
  }
}

extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
}
