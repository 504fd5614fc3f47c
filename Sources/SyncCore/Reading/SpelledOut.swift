import SyncJSON
import SyncModels

/// A value with a form of JSON that is written and read without generic coding.
///
/// Each sync reads such values. The first generic coding of a type in a process takes longer than
/// the rest of a small sync, because the runtime searches for conformances and makes metadata.
package protocol SpelledOut: Codable, Sendable {
  /// The JSON that the generic encoder would write; `nil` for a rare value.
  var json: [UInt8]? { get }

  /// Reads the form of ``json``.
  ///
  /// It fails for other forms and for invalid values. The generic decoder reads or explains them.
  init?(json: [UInt8])
}

extension SpelledOut {
  /// Assigns a member's value, and tells whether it has one.
  static func take<Value>(_ value: Value?, into member: inout Value?) -> Bool {
    member = value
    return value != nil
  }
}

extension ArraySlice<UInt8> {
  /// Passes each member of a JSON object to a closure.
  ///
  /// - Returns: Whether the bytes are one object and the closure took all of its members.
  func members(_ take: (_ name: String, _ value: JSONValueSlice) -> Bool) -> Bool {
    var areTaken = true
    do throws(JSONError) {
      try JSONScanner.members(of: self) { (member) throws(JSONError) in
        areTaken = areTaken && take(member.key, member.value)
      }
    } catch {
      return false
    }
    return areTaken
  }
}

extension JSONValueSlice {
  /// The number, if it fits.
  func number<Number: FixedWidthInteger>() -> Number? {
    integer().flatMap(Number.init(exactly:))
  }

  /// The number, if it fits and is one of ``StoredNumbers/counts``.
  func count<Number: FixedWidthInteger>() -> Number? {
    integer().flatMap { StoredNumbers.counts.contains($0) ? Number(exactly: $0) : nil }
  }

  /// The instant of a number of microseconds.
  var timestamp: Timestamp? { integer().map(Timestamp.init(microseconds:)) }

  /// The text of a token.
  var token: String? {
    var token: String?
    let isObject = bytes.members { name, value in
      token = value.string()
      return name == "rawValue"
    }
    return isObject ? token : nil
  }
}
