public import SyncModels
import SyncPorts

// An app inserts defaults by itself, often before it has pulled anything. No person has written them,
// so they lose to what the remote has.
extension EditBatch {
  /// Inserts a default; see ``LocalEdits/seed(_:key:)``.
  ///
  /// - Returns: Whether the record was inserted.
  @discardableResult
  public mutating func seed<T: SyncedRecord & Encodable>(_ value: T, key: String) throws(SyncError) -> Bool {
    let id = try Self.id(of: value, key: key)
    return try seed(id, try Self.fields(id) { try value.fields() })
  }

  /// Inserts a default under its own key; see ``LocalEdits/seed(_:key:)``.
  ///
  /// - Returns: Whether the record was inserted.
  @discardableResult
  public mutating func seed<T: SyncedRecord & Encodable & Identifiable>(
    _ value: T
  ) throws(SyncError) -> Bool where T.ID: RecordKey {
    try seed(value, key: try transaction.key(of: value.id, T.self))
  }

  /// Inserts a default of some members, given as JSON; see ``LocalEdits/seed(_:key:)``.
  ///
  /// - Returns: Whether the record was inserted.
  @discardableResult
  public mutating func seed(_ id: RecordID, _ fields: FieldMap) throws(SyncError) -> Bool {
    _ = try writable(id)
    try Self.checkIsPortable(fields, unlike: FieldMap(), id)
    return try writer.seed(id, try Self.content(of: fields, onto: nil, id, schema[id.type]))
  }
}

extension LocalEdits {
  /// Inserts a default, which gives way to whatever the remote has.
  ///
  /// Use it for settings and other records under fixed keys that the app makes by itself. A default
  /// is visible at once, waits for the first pull of its type, and is pushed only if the remote has
  /// no such record by then. A copy at the remote replaces it, without a conflict, whatever the
  /// policy; so does a deletion. Of two devices' defaults, the one that is pushed first stays. Once
  /// a person edits the record, the edit is like any other, on top of the default.
  ///
  /// - Returns: Whether the record was inserted. One that is here, deleted or withheld stays as it is.
  /// - Throws: As ``upsert(_:key:)``.
  @discardableResult
  public func seed<T: SyncedRecord & Encodable>(_ value: T, key: String) async throws(SyncError) -> Bool {
    try await perform { (batch) throws(SyncError) in try batch.seed(value, key: key) }
  }

  /// Inserts a default under its own key; see ``seed(_:key:)``.
  @discardableResult
  public func seed<T: SyncedRecord & Encodable & Identifiable>(
    _ value: T
  ) async throws(SyncError) -> Bool where T.ID: RecordKey {
    try await perform { (batch) throws(SyncError) in try batch.seed(value) }
  }
}

extension StoreSnapshot {
  /// Whether the first pull of a type has shown which defaults the remote lacks.
  func areSeedsDue(_ type: RecordType) throws(SyncError) -> Bool {
    try checkpoint(for: type)?.committedAt != nil
  }
}

extension OutboxEntry {
  /// Whether the entry is a default without an edit by a person.
  var isSeed: Bool { edit.stamp.isOfSeed }

  /// The base of a later edit of the record.
  ///
  /// An edit of a default that was not sent starts from it, as from a bundled copy: no
  /// person has chosen the members that the edit does not change.
  var baseOfNextEdit: Base {
    guard isSeed, sent == nil, case .none = base, case .upsert(let payload, let version) = edit.content else {
      return base
    }
    return .copy(Record(id: id, version: .unversioned, schemaVersion: version, payload: payload, fields: []))
  }

  /// The default that the edit was made on, as its stamp tells; `nil` for any other base.
  func seed(below entity: Entity) -> OutboxEntry? {
    guard let copy = base.record, copy.version == .unversioned,
      let stamp = entity.stamp(in: copy.payload), stamp.isOfSeed
    else { return nil }
    let content = Edit.Content.upsert(copy.payload, schemaVersion: copy.schemaVersion)
    return OutboxEntry(id: id, edit: Edit(content, stamp: stamp), base: .none)
  }
}
