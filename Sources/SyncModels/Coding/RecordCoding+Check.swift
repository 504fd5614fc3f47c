package import SyncJSON

extension RecordCoding {
  package func check<Value>(
    _ text: ArraySlice<UInt8>, of value: Value, at path: () -> [String]
  ) throws(JSONFormFailure) {
    if Self.isLibraryEncoding(text, of: Value.self) {
      throw JSONFormFailure(
        "The encoding of \(Value.self) is Foundation's own, which remotes do not read. Use a type of your own, or make it ScalarFormed."
      )
    }
    if let type = typePassedThrough(by: value, as: text, at: path) {
      throw JSONFormFailure(
        "\(Value.self) passes the encoder to its \(type), whose own encoding is not its form. Encode the value in a singleValueContainer."
      )
    }
  }

  /// The modules of Foundation.
  private static let libraries: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
  ]

  /// Whether a type of Foundation has encoded itself as an object or array.
  ///
  /// Such encodings are made to be read by Foundation. One string or number is what an app would
  /// write, too.
  private static func isLibraryEncoding<Value>(_ text: ArraySlice<UInt8>, of type: Value.Type) -> Bool {
    guard text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[") else { return false }
    let module = _typeName(type, qualified: true).prefix { $0 != "." }
    return libraries.contains(String(module))
  }

  /// The type of the part that a value has let encode itself in its place.
  ///
  /// A property wrapper's `part.encode(to: encoder)` passes no form: a date would be a number of
  /// seconds since 2001. `nil` if the text means the same in the part's form.
  private func typePassedThrough<Value>(
    by value: Value, as text: ArraySlice<UInt8>, at path: () -> [String]
  ) -> (any ScalarFormed.Type)? {
    var whole: Any = value
    while true {
      let mirror = Mirror(reflecting: whole)
      // A wrapper has few members.
      guard [.struct, .class, .enum].contains(mirror.displayStyle), mirror.children.count <= 3 else {
        return nil
      }
      for child in mirror.children {
        if let part = child.value as? any ScalarFormed, isForeign(text, of: part, at: path) {
          return type(of: part)
        }
      }
      guard mirror.children.count == 1, let only = mirror.children.first else { return nil }
      whole = only.value
    }
  }

  /// Whether a text is a value's own encoding, and means something else in its form.
  private func isForeign<Formed: ScalarFormed>(
    _ text: ArraySlice<UInt8>, of value: Formed, at path: () -> [String]
  ) -> Bool {
    guard let encodable = value as? any Encodable,
      let own = try? JSONByteEncoder().encode(encodable), text.elementsEqual(own)
    else { return false }
    let form = form(of: Formed.self) { path().map { FieldName($0) } }
    guard let json = try? JSONValueSlice(checking: text), let scalar = JSONScalar(json),
      let meant = form.read(scalar)
    else { return true }
    return form.write(meant) != form.write(value)
  }
}
