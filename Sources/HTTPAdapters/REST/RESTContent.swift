import SyncJSON
import SyncModels

/// The content of a record as it is sent, and as it is compared.
struct RESTContent: Sendable {
  let collection: RESTAPI.Collection
  /// The key that an edit gives its record in place of the former one; `nil` if it leaves the key.
  private(set) var newKey: String?

  init(collection: RESTAPI.Collection) { self.collection = collection }

  /// The content of an edit.
  init(collection: RESTAPI.Collection, of change: OutgoingChange) {
    self.collection = collection
    guard let former = change.base.record, let payload = change.content.payload,
      key(in: former.payload) == change.id.key
    else { return }
    newKey = key(in: payload).flatMap { $0 == change.id.key ? nil : $0 }
  }

  /// Whether one member of a record holds its key.
  var hasReadableKey: Bool { !collection.hasKeysOfParts && collection.id.member != nil }

  /// The key in the one member that holds it; `nil` without such a member.
  func key(in payload: Payload) -> String? {
    guard hasReadableKey,
      let record = try? JSONValueSlice(checking: payload.bytes, depthLimit: .max),
      let value = collection.id.value(in: record)
    else { return nil }
    return value.string() ?? value.integer().map { String($0) }
  }

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

  /// The key and the version, as far as they are members of a record that the edit leaves to the API.
  private var own: [FieldName] {
    [newKey == nil ? collection.id.member : nil, collection.version?.member]
      .compactMap { $0.map { FieldName($0) } }
  }

  /// A payload as it is sent: with its key, and with the base's version where that is a condition.
  ///
  /// A PATCH has what the edit changed, and null for what it removed. Any other write has the record
  /// as it is now, with these changes: a list may show less of it than there is.
  ///
  /// - Parameter key: The key; `nil` for a record that gets one by the API.
  func sendable(
    _ payload: Payload, key: String?, base: Record?, onto current: Record?
  ) throws(JSONError) -> [UInt8] {
    var members = try FieldMap(payload)
    if let base {
      var former = try FieldMap(base.payload)
      for name in own { (former[name], members[name]) = (nil, nil) }
      if let push = collection.push, push.write?.method == "PATCH" {
        let now = current.flatMap { try? FieldMap($0.payload) } ?? former
        members = members.patch(of: former, onto: push.replacesObjects ? now : nil)
      } else if let current {
        members = members.written(onto: try FieldMap(current.payload), since: former)
      }
    }
    if let version = collection.version?.member { members[FieldName(version)] = nil }
    if let id = collection.id.member {
      if let key {
        if members[FieldName(id)] == nil { members[FieldName(id)] = JSONString.quoted(key)[...] }
      } else {
        members[FieldName(id)] = nil
      }
    }
    if let version = try comparedVersion(of: base) { members[version.name] = version.value }
    // A record may have to be wrapped in members of the body.
    let wrapped = (collection.push?.body.names ?? []).reversed().reduce(Array(members.payload.bytes)) {
      [UInt8].object([(key: $1, value: $0)])
    }
    return wrapped
  }

  /// The member of a sent record by which the API finds out that the record has another state than the
  /// base; `nil` if it compares none.
  func comparedVersion(of base: Record?) throws(JSONError) -> (name: FieldName, value: ArraySlice<UInt8>)? {
    guard collection.push?.precondition == .version, let base, let version = collection.version,
      let value = try version.value(in: JSONValueSlice(checking: base.payload.bytes, depthLimit: .max)),
      let member = version.member
    else { return nil }
    return (FieldName(member), value.bytes)
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

  /// Whether an answer may be the whole record: it has a version, and what the base and the edit have.
  ///
  /// Of a new record, it has any sent member. An API may drop the others.
  func isWhole(_ answer: Payload, sent: Payload, base: Payload?) -> Bool {
    guard let theirs = try? FieldMap(answer), var sent = try? FieldMap(sent) else { return false }
    // A server that answers with what it was sent has left its own version out.
    if let version = collection.version, RESTRecordReader.lacks(version, answer.bytes) { return false }
    for name in own { sent[name] = nil }
    let names = sent.fields.filter { !sent.isLacking($0) }
    guard let base = base.flatMap({ try? FieldMap($0) }) else {
      return names.isEmpty || names.contains { theirs[$0] != nil }
    }
    return names.allSatisfy { theirs[$0] != nil || base[$0] == nil }
  }

  /// Whether any member of a record is a key, in any case of its letters.
  func names(_ record: Payload, _ key: String) -> Bool {
    String(decoding: record.bytes, as: UTF8.self).lowercased()
      .contains(String(decoding: JSONString.quoted(key), as: UTF8.self).lowercased())
  }

  /// Whether a record has each member of the base that an edit changed as it was before.
  ///
  /// Members that the base lacks do not count: an API may drop what it does not know.
  func isUntouched(_ record: Payload, by sent: Payload, since base: Payload) -> Bool {
    guard let theirs = try? FieldMap(record), var sent = try? FieldMap(sent), var base = try? FieldMap(base)
    else { return false }
    for name in own { (sent[name], base[name]) = (nil, nil) }
    func isSame(_ a: FieldMap, _ b: FieldMap, _ name: FieldName) -> Bool {
      a.hasSameValue(as: b, for: name) || a.isLacking(name) && b.isLacking(name)
    }
    let changed = base.fields.filter { !isSame(sent, base, $0) }
    return !changed.isEmpty && changed.allSatisfy { isSame(theirs, base, $0) }
  }

  /// Whether two copies are the same state of a record.
  func isSame(_ current: Record, _ base: Record) -> Bool {
    if collection.version != nil,
      current.version.sequence != base.version.sequence
        || current.version.modifiedAt != base.version.modifiedAt
    {
      return false
    }
    // An equal version is the base, whatever else the two answers show.
    return !current.version.isUndated || current.payload == base.payload
      || holds(current.payload, base.payload, removedFrom: nil)
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

  /// The members that differ from those of the base, and null for those that only the base has
  /// (RFC 7386).
  ///
  /// - Parameter current: What the record has now, if objects are sent whole.
  fileprivate func patch(of base: FieldMap, onto current: FieldMap?) -> FieldMap {
    var patch = self
    for name in base.fields {
      if self[name] == nil {
        patch[name] = Self.null
      } else if hasSameValue(as: base, for: name) {
        patch[name] = nil
      } else if let object = FieldMap(object: self[name]), let former = FieldMap(object: base[name]) {
        let now = current.map { FieldMap(object: $0[name]) ?? former }
        let sent = now.map { object.written(onto: $0, since: former, removed: Self.null) }
        patch[name] = (sent ?? object.patch(of: former, onto: nil)).payload.bytes
      }
    }
    return patch
  }

  private static let null = Array("null".utf8)[...]

  /// The members of another object, with what these have changed since the base.
  ///
  /// - Parameter removed: The value of what these have removed; `nil` for none.
  fileprivate func written(
    onto current: FieldMap, since base: FieldMap, removed: ArraySlice<UInt8>? = nil
  ) -> FieldMap {
    var result = current
    for name in fields where !hasSameValue(as: base, for: name) {
      if let object = FieldMap(object: self[name]), let now = FieldMap(object: current[name]),
        let former = FieldMap(object: base[name])
      {
        result[name] = object.written(onto: now, since: former, removed: removed).payload.bytes
      } else {
        result[name] = self[name]
      }
    }
    for name in base.fields where self[name] == nil { result[name] = removed }
    return result
  }
}
