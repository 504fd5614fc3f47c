import SyncJSON
import SyncModels
import SyncPorts

/// The keys under which the app made records that have a key of the remote's by now.
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

  /// Returns the id that a record has now, if the remote has given it a key of its own.
  mutating func present(_ id: RecordID) throws(SyncError) -> RecordID {
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
    var isChanged = false
    for reference in entity.references {
      guard let target = entity.target(of: record, by: reference),
        try transaction.records(withIDs: [target]).first.flatMap(\.self) == nil,
        let moved = try transaction.movedRecord(target)
      else { continue }
      members[reference.field] = moved.ownFormOfKey
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

extension StoreSnapshot {
  /// Returns the records of an app's query, which may name referred records by their former keys.
  func records(_ query: Query, of schema: SyncSchema) throws(SyncError) -> [Record] {
    let found = try records(query)
    guard let other = try presentKeys(in: query, of: schema, hasResult: !found.isEmpty) else { return found }
    return try records(other)
  }

  /// Counts the records of an app's query; see ``records(_:of:)``.
  func count(_ query: Query, of schema: SyncSchema) throws(SyncError) -> Int {
    let count = try count(query)
    guard let other = try presentKeys(in: query, of: schema, hasResult: count > 0) else { return count }
    return try self.count(other)
  }

  /// Returns a query with present keys in place of former ones; `nil` if it has none of those.
  ///
  /// Most queries name one record, and their result shows that its key is no former one.
  private func presentKeys(
    in query: Query, of schema: SyncSchema, hasResult: Bool
  ) throws(SyncError) -> Query? {
    guard let entity = schema[query.type], let condition = query.condition else { return nil }
    let targets = condition.targets(of: entity)
    guard !targets.isEmpty, targets.count > 1 || !hasResult, try areAnyMoved() else { return nil }
    var keys: [RecordID: String] = [:]
    for target in try absent(among: targets.sorted()) {
      let present = try present(target)
      if present != target { keys[target] = present.key }
    }
    if keys.isEmpty { return nil }
    var query = query
    query.condition = condition.naming(keys, of: entity)
    return query
  }
}

extension Condition {
  /// The records that the condition names by their keys, in fields that refer to them.
  fileprivate func targets(of entity: Entity) -> Set<RecordID> {
    switch self {
    case .equal(let field, let value): Set([entity.target(named: value, by: field)].compactMap(\.self))
    case .isIn(let field, let values): Set(values.compactMap { entity.target(named: $0, by: field) })
    case .all(let conditions), .any(let conditions):
      conditions.reduce(into: []) { $0.formUnion($1.targets(of: entity)) }
    case .not(let condition): condition.targets(of: entity)
    case .within, .meaning, .text, .invalid: []
    }
  }

  /// The condition with other keys of the records that it names.
  fileprivate func naming(_ keys: [RecordID: String], of entity: Entity) -> Condition {
    func named(_ value: FieldValue, by field: FieldName) -> FieldValue {
      entity.target(named: value, by: field).flatMap { keys[$0] }.map { .string($0) } ?? value
    }
    return switch self {
    case .equal(let field, let value): .equal(field, named(value, by: field))
    case .isIn(let field, let values): .isIn(field, values.map { named($0, by: field) })
    case .all(let conditions): .all(conditions.map { $0.naming(keys, of: entity) })
    case .any(let conditions): .any(conditions.map { $0.naming(keys, of: entity) })
    case .not(let condition): .not(condition.naming(keys, of: entity))
    case .within, .meaning, .text, .invalid: self
    }
  }
}

extension Entity {
  /// The record that a value of a field refers to; `nil` for a field that is no reference.
  fileprivate func target(named value: FieldValue, by field: FieldName) -> RecordID? {
    guard case .string(let key) = value, let reference = references.first(where: { $0.field == field })
    else { return nil }
    return RecordID(type: reference.target, key: key)
  }
}
