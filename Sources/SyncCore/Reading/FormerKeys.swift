import SyncJSON
import SyncModels
import SyncPorts

/// The keys under which the app has known records that have another key at the remote by now.
enum FormerKeys {
  static func key(_ id: RecordID) -> ValueKey<String> { ValueKey(.moved, "\(id)") }
}

extension StoreSnapshot {
  /// Returns the id that a record has now, if the remote has given it a key of its own.
  ///
  /// A record that was deleted there and made again has had several.
  func present(_ id: RecordID) throws(SyncError) -> RecordID {
    var (id, former): (RecordID, Set<RecordID>) = (id, [])
    while former.insert(id).inserted, let key = try value(of: FormerKeys.key(id)) {
      id = RecordID(type: id.type, key: key)
    }
    return id
  }

  /// Returns the live record of an id, perhaps under a key of the remote's own.
  func record(_ id: RecordID) throws(SyncError) -> Record? {
    if let record = try records(withIDs: [id]).first ?? nil { return record }
    return try movedRecord(id)
  }

  /// Returns the live record of a former id, under the key of the remote's own.
  func movedRecord(_ id: RecordID) throws(SyncError) -> Record? {
    let present = try present(id)
    return present == id ? nil : try records(withIDs: [present]).first ?? nil
  }
}

extension StoreSnapshot {
  /// Whether the remote has given any record a key of its own.
  fileprivate func areAnyMoved() throws(SyncError) -> Bool {
    try !keys(withPrefix: ValueFamily.moved.rawValue, after: nil, limit: 1).isEmpty
  }

  /// Returns the id of a record that an app names, perhaps by its former key.
  func current(_ id: RecordID) throws(SyncError) -> RecordID {
    guard try areAnyMoved(), try records(withIDs: [id]).first.flatMap(\.self) == nil else { return id }
    return try present(id)
  }
}

extension EditWriter {
  /// Whether the remote has given any record a key of its own.
  private mutating func areAnyMoved() throws(SyncError) -> Bool {
    if let known = hasMoves { return known }
    let areAny = try transaction.areAnyMoved()
    hasMoves = areAny
    return areAny
  }

  /// Returns the id of a record that an app names, perhaps by its former key.
  mutating func current(_ id: RecordID) throws(SyncError) -> RecordID {
    guard try areAnyMoved(), try transaction.records(withIDs: [id]).first.flatMap(\.self) == nil else {
      return id
    }
    return try transaction.present(id)
  }

  /// Returns content that refers to records by the keys that the remote has given them.
  ///
  /// A screen of the app may still hold the former key of what it refers to.
  mutating func referring(
    _ content: Edit.Content, of id: RecordID, _ entity: Entity
  ) throws(SyncError) -> Edit.Content {
    guard !entity.references.isEmpty, case .upsert(let payload, let schemaVersion) = content,
      try areAnyMoved(), var members = try? FieldMap(payload), let fields = try? entity.fields(of: payload)
    else { return content }
    let record = Record(
      id: id, version: .unversioned, schemaVersion: schemaVersion, payload: payload, fields: fields)
    let named = entity.references.compactMap { reference in
      entity.target(of: record, by: reference).map { (reference.field, $0) }
    }
    let targets = try transaction.records(withIDs: named.map(\.1))
    var isChanged = false
    for ((field, target), known) in zip(named, targets) where known == nil {
      guard let moved = try transaction.movedRecord(target) else { continue }
      members[field] = moved.ownFormOfKey
      isChanged = true
    }
    return isChanged ? .upsert(members.payload, schemaVersion: schemaVersion) : content
  }
}

extension Record {
  /// The record's key as JSON, as its own members have it: digits, or else a text.
  fileprivate var ownFormOfKey: ArraySlice<UInt8> {
    let (text, digits) = (JSONString.quoted(id.key)[...], Array(id.key.utf8)[...])
    guard let members = try? FieldMap(payload) else { return text }
    let values = members.fields.compactMap { members[$0] }
    return values.contains(digits) && !values.contains(text) ? digits : text
  }
}

// MARK: Queries by former keys

/// The members that hold keys, with the types of the records that they name.
typealias KeyMembers = [FieldName: RecordType]

extension SyncSchema {
  /// The members of a type by which a query may name records: its references.
  func keyMembers(of type: RecordType) -> KeyMembers {
    let references = self[type]?.references ?? []
    return KeyMembers(references.map { ($0.field, $0.target) }) { first, _ in first }
  }

  /// The members of a model by which a query may name records: its references, and its own key.
  func keyMembers<T: SyncedRecord>(of model: T.Type) -> KeyMembers {
    var members = keyMembers(of: T.recordType)
    if let own = T.coding.keyMember, members[own] == nil { members[own] = T.recordType }
    return members
  }
}

extension StoreSnapshot {
  /// Returns the records of an app's query, which may name records by their former keys.
  func records(_ query: Query, by members: KeyMembers) throws(SyncError) -> [Record] {
    let found = try records(query)
    guard let other = try presentKeys(in: query, by: members, hasResult: !found.isEmpty) else { return found }
    return try records(other)
  }

  /// Counts the records of an app's query; see ``records(_:by:)``.
  func count(_ query: Query, by members: KeyMembers) throws(SyncError) -> Int {
    let count = try count(query)
    guard let other = try presentKeys(in: query, by: members, hasResult: count > 0) else { return count }
    return try self.count(other)
  }

  /// Returns a query with present keys in place of former ones; `nil` if it has none of those.
  ///
  /// Most queries name one record, and their result shows that its key is no former one.
  private func presentKeys(
    in query: Query, by members: KeyMembers, hasResult: Bool
  ) throws(SyncError) -> Query? {
    guard !members.isEmpty, let condition = query.condition else { return nil }
    let named = condition.named(by: members)
    guard !named.isEmpty, named.count > 1 || !hasResult || condition.hasAlternatives, try areAnyMoved() else {
      return nil
    }
    var keys: [RecordID: String] = [:]
    for id in try absent(among: named.sorted()) {
      let present = try present(id)
      if present != id { keys[id] = present.key }
    }
    if keys.isEmpty { return nil }
    var query = query
    query.condition = condition.naming(keys, by: members)
    return query
  }
}

extension Condition {
  /// Whether a result may come although a record that the condition names has another key.
  fileprivate var hasAlternatives: Bool {
    switch self {
    case .any, .not: true
    case .all(let conditions): conditions.contains(where: \.hasAlternatives)
    case .equal, .isIn, .within, .meaning, .text, .invalid: false
    }
  }

  /// The records that the condition names by their keys.
  fileprivate func named(by members: KeyMembers) -> Set<RecordID> {
    switch self {
    case .equal(let field, let value): Set([value.named(by: members[field])].compactMap(\.self))
    case .isIn(let field, let values): Set(values.compactMap { $0.named(by: members[field]) })
    case .all(let conditions), .any(let conditions):
      conditions.reduce(into: []) { $0.formUnion($1.named(by: members)) }
    case .not(let condition): condition.named(by: members)
    case .within, .meaning, .text, .invalid: []
    }
  }

  /// The condition with other keys of the records that it names.
  fileprivate func naming(_ keys: [RecordID: String], by members: KeyMembers) -> Condition {
    switch self {
    case .equal(let field, let value): .equal(field, value.naming(keys, by: members[field]))
    case .isIn(let field, let values): .isIn(field, values.map { $0.naming(keys, by: members[field]) })
    case .all(let conditions): .all(conditions.map { $0.naming(keys, by: members) })
    case .any(let conditions): .any(conditions.map { $0.naming(keys, by: members) })
    case .not(let condition): .not(condition.naming(keys, by: members))
    case .within, .meaning, .text, .invalid: self
    }
  }
}

extension FieldValue {
  /// The record of a type that the value names.
  fileprivate func named(by type: RecordType?) -> RecordID? {
    guard let type else { return nil }
    return switch self {
    case .string(let key): RecordID(type: type, key: key)
    case .integer(let number): RecordID(type: type, key: "\(number)")
    case .null, .double, .boolean, .composite: nil
    }
  }

  /// The value with another key of the record that it names; a number stays one.
  fileprivate func naming(_ keys: [RecordID: String], by type: RecordType?) -> FieldValue {
    guard let key = named(by: type).flatMap({ keys[$0] }) else { return self }
    if case .integer = self, let number = Int64(key) { return .integer(number) }
    return .string(key)
  }
}
