import SyncJSON
import SyncModels

/// The content of a record as it is sent, and as it is compared.
struct RESTContent: Sendable {
  let collection: RESTAPI.Collection

  /// The members that the API writes itself.
  static func serverManagedFields(of collections: [RESTAPI.Collection]) -> [FieldName] {
    var fields: [FieldName] = []
    for collection in collections where collection.push != nil {
      for name in RESTContent(collection: collection).own where !fields.contains(name) {
        fields.append(name)
      }
    }
    return fields
  }

  /// The key and the version, as far as they are members of a record.
  private var own: [FieldName] {
    [collection.id.member, collection.version?.member].compactMap { $0.map { FieldName($0) } }
  }

  /// A payload as it is sent: with its key, and with the base's version where that is a condition.
  ///
  /// A PATCH leaves out members as they are, so it names the removed ones.
  func sendable(_ payload: Payload, key: String, base: Record?) throws(JSONError) -> [UInt8] {
    var members = try FieldMap(payload)
    if let version = collection.version?.member { members[FieldName(version)] = nil }
    if collection.push?.write.method == "PATCH", let base {
      var former = try FieldMap(base.payload)
      for name in own { former[name] = nil }
      members = members.patch(of: former)
    }
    if let id = collection.id.member, members[FieldName(id)] == nil {
      members[FieldName(id)] = JSONString.quoted(key)[...]
    }
    if collection.push?.precondition == .version, let version = collection.version, let base,
      let value = try version.value(in: JSONValueSlice(checking: base.payload.bytes, depthLimit: .max)),
      let member = version.member
    {
      members[FieldName(member)] = value.bytes
    }
    return Array(members.payload.bytes)
  }

  /// Whether a record has every sent member, and none that the edit removed.
  ///
  /// An API may add members of its own. The key and the version do not count.
  func holds(_ record: Payload, _ sent: Payload, removedFrom base: Payload?) -> Bool {
    // A value that cannot be compared counts as different.
    guard let theirs = try? FieldMap(record), var sent = try? FieldMap(sent) else { return false }
    var former = base.flatMap { try? FieldMap($0) } ?? FieldMap()
    for name in own { (sent[name], former[name]) = (nil, nil) }
    return theirs.holds(sent, removedFrom: former)
  }

  /// Whether two copies are the same state of a record.
  func isSame(_ current: Record, _ base: Record) -> Bool {
    if collection.version != nil,
      current.version.sequence != base.version.sequence
        || current.version.modifiedAt != base.version.modifiedAt
    {
      return false
    }
    return current.payload == base.payload
      || JSONScanner.canonical(current.payload.bytes) == JSONScanner.canonical(base.payload.bytes)
  }
}

extension FieldMap {
  /// The members of an object; `nil` for any other value.
  fileprivate init?(object value: ArraySlice<UInt8>?) {
    guard let value, let map = try? FieldMap(Payload(value)) else { return nil }
    self = map
  }

  /// Whether these are the sent members, in any spelling, and perhaps others.
  ///
  /// No other one may be of the base. A null member may be missing. Lists are equal whole.
  fileprivate func holds(_ sent: FieldMap, removedFrom base: FieldMap) -> Bool {
    let hasSent = sent.fields.allSatisfy { name in
      if let mine = FieldMap(object: self[name]), let object = FieldMap(object: sent[name]) {
        return mine.holds(object, removedFrom: FieldMap(object: base[name]) ?? FieldMap())
      }
      return hasSameValue(as: sent, for: name) || isLacking(name) && sent.isLacking(name)
    }
    return hasSent && base.fields.allSatisfy { sent[$0] != nil || isLacking($0) }
  }

  /// The members, and null for those that only the base has (RFC 7386).
  fileprivate func patch(of base: FieldMap) -> FieldMap {
    var patch = self
    for name in base.fields {
      if self[name] == nil {
        patch[name] = Array("null".utf8)[...]
      } else if let object = FieldMap(object: self[name]), let former = FieldMap(object: base[name]) {
        patch[name] = object.patch(of: former).payload.bytes
      }
    }
    return patch
  }
}
