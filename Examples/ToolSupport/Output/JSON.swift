import CanonicalSync
import SyncJSON

/// A JSON value to print, with its members in the given order.
package enum JSON: Sendable {
  case object([(key: String, value: JSON)])
  case array([JSON])
  case string(String)
  case integer(Int)
  case double(Double)
  case bool(Bool)
  case null

  /// The value on one line, without white space.
  package var compact: String {
    switch self {
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0.key)):\($0.value.compact)" }.joined(separator: ",") + "}"
    case .array(let elements): "[" + elements.map(\.compact).joined(separator: ",") + "]"
    case .string(let text): Self.quoted(text)
    case .integer(let number): String(number)
    // JSON cannot represent infinity or NaN.
    case .double(let number): number.isFinite ? String(number) : "null"
    case .bool(let truth): String(truth)
    case .null: "null"
    }
  }

  /// The object of `--json` after a request to stop, if there are no counts.
  package static let cancelled: JSON = ["wasCancelled": true]

  private static func quoted(_ text: String) -> String {
    String(decoding: JSONString.quoted(text), as: UTF8.self)
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { (key: $0.0, value: $0.1) })
  }
}
