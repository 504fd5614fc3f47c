package import SyncJSON

extension RecordCoding {
  package func check<Value>(
    _ text: ArraySlice<UInt8>, of value: Value, keyedBy keys: (any CodingKey.Type)?, at path: () -> [String]
  ) throws(JSONFormFailure) {
    switch EncodingOrigin.of(value, keyedBy: keys) {
    case .ownType: return
    case .foundation:
      // One string or number is what an app would write, too.
      guard text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[") else { return }
      throw JSONFormFailure(
        "The encoding of \(Value.self) is Foundation's own, which remotes do not read. Use a type of your own, or make it ScalarFormed."
      )
    case .unknown:
      guard let type = typePassedThrough(by: value, as: text, at: path) else { return }
      throw JSONFormFailure(
        "\(Value.self) passes the encoder to its \(type), whose own encoding is not its form. Encode the value in a singleValueContainer."
      )
    }
  }

  /// The type of the part that a value has let encode itself in its place.
  ///
  /// A property wrapper's `part.encode(to: encoder)` passes no form: a date would be a number of
  /// seconds since 2001. `nil` if the text means the same in the part's form.
  private func typePassedThrough<Value>(
    by value: Value, as text: ArraySlice<UInt8>, at path: () -> [String]
  ) -> (any ScalarFormed.Type)? {
    // The members first, then theirs: a wrapper may hold another one.
    var wholes: [Any] = [value]
    var next = 0
    while next < wholes.count, next < Self.mostParts {
      let mirror = Mirror(reflecting: wholes[next])
      next += 1
      guard [.struct, .class, .enum, .tuple, .optional].contains(mirror.displayStyle) else { continue }
      for child in mirror.children {
        guard let part = child.value as? any ScalarFormed else {
          wholes.append(child.value)
          continue
        }
        if isForeign(text, of: part, at: path) { return type(of: part) }
      }
    }
    return nil
  }

  /// The most parts of a value whose members are compared with its text.
  private static let mostParts = 32

  /// Whether a text is a value's own encoding, and means something else in its form.
  private func isForeign<Formed: ScalarFormed>(
    _ text: ArraySlice<UInt8>, of value: Formed, at path: () -> [String]
  ) -> Bool {
    guard let encodable = value as? any Encodable,
      let own = try? JSONByteEncoder().encode(encodable), text.elementsEqual(own)
    else { return false }
    let form = form(of: Formed.self) { path().map { FieldName($0) } }
    guard let json = try? JSONValueSlice(checking: text), let meant = try? form.read(json) else {
      return true
    }
    return form.write(meant) != form.write(value)
  }
}
