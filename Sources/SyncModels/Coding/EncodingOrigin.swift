import Synchronization

/// The code that wrote a value's text, as far as its type tells.
///
/// It is found out once for each type, because reflection costs more than the encoding of a value.
package enum EncodingOrigin {
  /// The type's own code, or the standard library's, which hands its parts to a container.
  case ownType
  /// Foundation's code.
  case foundation
  /// The type's code, or that of a part to which it passed the encoder.
  case unknown

  private struct Place: Hashable {
    var type: ObjectIdentifier
    var keys: ObjectIdentifier?
  }

  private static let known = Mutex<[Place: EncodingOrigin]>([:])

  /// Returns the origin of a value's text.
  ///
  /// - Parameter keys: The type of the keys under which the value wrote its members.
  package static func of<Value>(_ value: Value, keyedBy keys: (any CodingKey.Type)?) -> EncodingOrigin {
    let place = Place(type: ObjectIdentifier(Value.self), keys: keys.map { ObjectIdentifier($0) })
    if let origin = known.withLock({ $0[place] }) { return origin }
    let origin = EncodingOrigin(value, keyedBy: keys)
    known.withLock { $0[place] = origin }
    return origin
  }

  private init<Value>(_ value: Value, keyedBy keys: (any CodingKey.Type)?) {
    let name = _typeName(Value.self, qualified: true)
    let module = name.prefix { $0 != "." }
    if Self.libraries.contains(String(module)) {
      self = .foundation
    } else if module == "Swift" || keys.map({ Self.areDeclared($0, in: name) }) == true {
      self = .ownType
    } else if let type = Value.self as? any RawRepresentable.Type, !Self.hasFormedRawValue(type),
      Mirror(reflecting: value).displayStyle == .enum
    {
      self = .ownType
    } else {
      self = .unknown
    }
  }

  /// The modules of Foundation.
  private static let libraries: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
  ]

  /// Whether the named type declares a type of keys, as synthesized code does.
  private static func areDeclared(_ keys: any CodingKey.Type, in name: String) -> Bool {
    let own = _typeName(keys, qualified: true)
    guard own.hasPrefix(name + ".") else { return false }
    var rest = own.dropFirst(name.count + 1)
    // A private type has a context before its name: `.(unknown context at $1f).CodingKeys`.
    if rest.hasPrefix("("), let end = rest.firstIndex(of: ")") { rest = rest[end...].dropFirst(2) }
    return !rest.contains(".")
  }

  private static func hasFormedRawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
    Raw.RawValue.self is any ScalarFormed.Type
  }
}
