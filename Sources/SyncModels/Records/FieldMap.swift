public import SyncJSON

/// A payload as its top-level members, in their order: what edits overlay and merges compare.
///
/// Members that nobody touches keep their bytes; a repeated member counts as its last copy says.
public struct FieldMap: Sendable {
  private var names: [FieldName] = []
  private var values: [FieldName: ArraySlice<UInt8>] = [:]

  /// A map without members.
  public init() {}

  /// Takes a payload apart.
  ///
  /// - Throws: ``JSONError`` where the payload is not one JSON object.
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

  /// A member's JSON value; `nil` where there is none, and to remove it. A new member goes to the end.
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

  /// Whether a member is missing or null, which is the same to whoever reads it.
  public func isLacking(_ field: FieldName) -> Bool {
    values[field]?.elementsEqual("null".utf8) ?? true
  }

  /// Whether a member has the same value in another map, however it is spelled; missing in both is the same.
  ///
  /// Numbers compare by their exact value, strings by their characters' UTF-8 bytes, objects without regard to the order of their members.
  public func hasSameValue(as other: FieldMap, for field: FieldName) -> Bool {
    switch (values[field], other.values[field]) {
    case (nil, nil): true
    case (let a?, let b?): a == b || JSONScanner.canonical(a) == JSONScanner.canonical(b)
    default: false
    }
  }

  /// Whether every member of another map is here, with the same value.
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
  /// Whether two payloads hold the same members with the same values, however they are ordered and spelled.
  ///
  /// When they were edited, by ``FieldName/editStamp``, does not count.
  public func hasSameMembers(as other: Payload) -> Bool {
    if bytes == other.bytes { return true }
    guard var a = try? FieldMap(self), var b = try? FieldMap(other) else { return false }
    (a[.editStamp], b[.editStamp]) = (nil, nil)
    return a.fields.count == b.fields.count && a.contains(b)
  }
}
