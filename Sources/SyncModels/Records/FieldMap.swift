public import SyncJSON

/// A payload's top-level members, in their order. Edits overlay them, and merges compare them.
///
/// An untouched member keeps its bytes. The last copy of a repeated member counts.
public struct FieldMap: Sendable {
  private var names: [FieldName] = []
  private var values: [FieldName: ArraySlice<UInt8>] = [:]

  /// Creates a map without members.
  public init() {}

  /// Splits a payload into its members.
  ///
  /// - Throws: ``JSONError`` for a payload that is not one JSON object.
  /// - Complexity: O(*n*) in the payload's bytes.
  public init(_ payload: Payload) throws(JSONError) {
    var map = FieldMap()
    try JSONScanner.members(of: payload.bytes) { member throws(JSONError) in
      map[FieldName(member.key)] = member.value.bytes
    }
    self = map
  }

  /// The members' names, in their order.
  public var fields: [FieldName] { names }

  /// A member's JSON value; `nil` for a missing member. Setting `nil` removes the member.
  ///
  /// A new member goes to the end.
  public subscript(field: FieldName) -> ArraySlice<UInt8>? {
    get { values[field] }
    set {
      let isNew = values[field] == nil
      values[field] = newValue
      if newValue == nil {
        if !isNew { names.removeAll { $0 == field } }
      } else if isNew {
        names.append(field)
      }
    }
  }

  /// The string, number or Boolean value of a member; `nil` for a member that is none or is not there.
  ///
  /// Setting `nil` removes the member, and so does a number that JSON cannot spell.
  public subscript(scalar field: FieldName) -> JSONScalar? {
    get {
      guard let bytes = self[field], let value = try? JSONValueSlice(checking: bytes) else { return nil }
      return JSONScalar(value)
    }
    set { self[field] = newValue?.json.map { $0[...] } }
  }

  /// Whether a member is missing or null. Readers treat both alike.
  public func isLacking(_ field: FieldName) -> Bool {
    values[field]?.elementsEqual("null".utf8) ?? true
  }

  /// Whether a member has the same value in another map, in any spelling.
  ///
  /// A member missing in both is the same. Numbers compare by their exact value, strings by their
  /// characters' UTF-8 bytes, objects without regard to the order of their members.
  public func hasSameValue(as other: FieldMap, for field: FieldName) -> Bool {
    switch (values[field], other.values[field]) {
    case (nil, nil): true
    case (let a?, let b?): a == b || JSONScanner.canonical(a) == JSONScanner.canonical(b)
    default: false
    }
  }

  /// Whether this map has every member of another, with the same value.
  public func contains(_ other: FieldMap) -> Bool {
    other.names.allSatisfy { hasSameValue(as: other, for: $0) }
  }

  /// The members as one JSON object.
  public var payload: Payload {
    var bytes = [UInt8(ascii: "{")]
    for (place, name) in names.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONString.append(name.rawValue, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      if let value = values[name] { bytes.append(contentsOf: value) }
    }
    bytes.append(UInt8(ascii: "}"))
    return Payload(bytes)
  }
}

extension Payload {
  /// Whether two payloads have the same members with the same values.
  ///
  /// Order and spelling do not count. The stamp in ``FieldName/editStamp`` does not count either.
  public func hasSameMembers(as other: Payload) -> Bool {
    if bytes == other.bytes { return true }
    guard var a = try? FieldMap(self), var b = try? FieldMap(other) else { return false }
    (a[.editStamp], b[.editStamp]) = (nil, nil)
    return a.fields.count == b.fields.count && a.contains(b)
  }
}
