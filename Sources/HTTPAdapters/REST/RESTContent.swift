import SyncJSON
import SyncModels

/// The content of a record as it is sent, and as it is compared.
struct RESTContent: Sendable {
  let collection: RESTAPI.Collection

  /// The members that the API writes itself.
  static func serverManagedFields(of collections: [RESTAPI.Collection]) -> [FieldName] {
    var fields: [FieldName] = []
    for collection in collections where collection.push != nil {
      for name in [collection.id.member, collection.version?.member].compactMap(\.self) {
        if !fields.contains(FieldName(name)) { fields.append(FieldName(name)) }
      }
    }
    return fields
  }

  /// A payload as it is sent: with its key, and with the base's version where that is a condition.
  func sendable(_ payload: Payload, key: String, base: Record?) throws(JSONError) -> [UInt8] {
    var own: [[UInt8]] = []
    if let version = collection.version?.member { own.append(Array(version.utf8)) }
    let id = collection.id.member.map { Array($0.utf8) }
    var (hasKey, json) = (false, [UInt8(ascii: "{")])
    func append(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json += name
      json += Array("\":".utf8)
      json += value
    }
    try JSONScanner.members(of: payload.bytes, depthLimit: .max) { member throws(JSONError) in
      if own.contains(where: member.hasKey) { return }
      if let id, member.hasKey(id) { hasKey = true }
      append(member.rawKey, member.value.bytes)
    }
    if let member = collection.id.member, !hasKey {
      append(JSONString.quoted(member).dropFirst().dropLast(), JSONString.quoted(key))
    }
    if collection.push?.precondition == .version, let version = collection.version, let base,
      let value = try version.value(in: JSONValueSlice(checking: base.payload.bytes, depthLimit: .max)),
      let member = version.member
    {
      append(JSONString.quoted(member).dropFirst().dropLast(), value.bytes)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// Whether a record has every sent member, with the same value in any spelling.
  ///
  /// An API may add members of its own. The key and the version do not count.
  func holds(_ record: ArraySlice<UInt8>, _ sent: Payload) -> Bool {
    do {
      var (theirs, ours) = (try JSONTree(record), try JSONTree(sent.bytes))
      let own = [collection.id.member, collection.version?.member].compactMap(\.self).map { Array($0.utf8) }
      theirs.remove(own)
      ours.remove(own)
      return theirs.covers(ours)
    } catch {
      // A value that cannot be compared counts as different.
      return false
    }
  }

  /// Whether two copies are the same state of a record.
  func isSame(_ current: Record, _ base: Record) -> Bool {
    if collection.version != nil,
      current.version.sequence != base.version.sequence
        || current.version.modifiedAt != base.version.modifiedAt
    {
      return false
    }
    guard let mine = try? JSONTree(current.payload.bytes), let theirs = try? JSONTree(base.payload.bytes)
    else {
      return current.payload == base.payload
    }
    return mine == theirs
  }
}
