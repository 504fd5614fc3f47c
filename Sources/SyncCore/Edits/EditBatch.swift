import SyncJSON
public import SyncModels
import SyncPorts

/// Several edits in one transaction. Each edit sees the ones before it.
public struct EditBatch {
  var writer: EditWriter
  let schema: SyncSchema
  let transaction: any StoreTransaction

  /// Returns the current record, with the edits made so far.
  public func record(_ id: RecordID) throws(SyncError) -> Record? {
    try transaction.records(withIDs: [id]).first ?? nil
  }

  /// Returns the current record as the app's type, with the edits so far.
  ///
  /// - Throws: ``SyncError`` with code `undecodable` for a record that does not decode.
  public func find<T: SyncedRecord>(_ type: T.Type, key: String) throws(SyncError) -> Stored<T>? {
    let id = RecordID(type: T.recordType, key: key)
    let found = try transaction.records(withIDs: [id]).compactMap(\.self)
    return try ReadRecords(found, of: id.type, in: transaction).list {
      (record, pending) throws(Undecodable) in
      try record.stored(as: type, pending: pending, reportingTo: { _ in })
    }.complete().first
  }

  /// Returns the records that a query selects, with the edits made so far.
  public func records(_ query: Query) throws(SyncError) -> [Record] {
    try transaction.records(query)
  }

  /// Updates a record to a value, or inserts it; see ``LocalEdits/upsert(_:key:)``.
  public mutating func upsert<T: SyncedRecord & Encodable>(_ value: T, key: String) throws(SyncError) {
    let id = RecordID(type: T.recordType, key: key)
    if value.isNamed(otherThan: key) {
      throw SyncError(
        .invalidEdit, during: "editing \(id)",
        "The value's id names another record. Edit that one, or declare in its coding that id is not the key."
      )
    }
    try set(id) { (fields) throws(SyncError) in
      let new = try Self.fields(id) { try value.fields() }
      // A new record has no stored members to keep.
      guard !fields.fields.isEmpty else { return fields = new }
      let stored = fields.payload
      let overlay =
        if let old = try? stored.decoded(as: T.self, key: key) {
          TypedOverlay(try Self.fields(id) { try old.fields() }, .asStored)
        } else {
          TypedOverlay(try Self.fields(id) { try value.fields(spellingNil: true) }, .named)
        }
      overlay.lay(new, over: &fields)
    }
  }

  /// Updates or inserts the record of the value's own key; see ``LocalEdits/upsert(_:key:)``.
  public mutating func upsert<T: SyncedRecord & Encodable & Identifiable>(
    _ value: T
  ) throws(SyncError) where T.ID: RecordKey {
    guard let key = value.ownKey else {
      throw SyncError(
        .invalidEdit, during: "editing \(T.recordType)",
        "The type's coding says that id is not the record's key: name the key.")
    }
    try upsert(value, key: key)
  }

  /// Updates a record that was read, under its key; see ``LocalEdits/upsert(_:key:)``.
  public mutating func upsert<T: SyncedRecord & Encodable>(_ record: Stored<T>) throws(SyncError) {
    try upsert(record.value, key: record.key)
  }

  /// Changes some members of a record, or inserts a record with them.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - change: Receives the stored record's members, which are empty for a new record. Values are
  ///     JSON.
  /// - Throws: `invalidEdit` for members that do not form a JSON object, that are not portable
  ///   JSON, or that refer to a record that is not in the store.
  public mutating func set(
    _ id: RecordID, _ change: (inout FieldMap) throws(SyncError) -> Void
  ) throws(SyncError) {
    let entity = schema[id.type]
    try writer.edit(id) { (shown) throws(SyncError) in
      var fields = FieldMap()
      if let shown {
        do {
          fields = try FieldMap(shown.payload)
        } catch {
          throw SyncError(
            .invalidEdit, during: "editing \(id)", "The stored payload is not one JSON object: \(error).")
        }
      }
      let before = shown?.payload
      let stored = fields
      try change(&fields)
      try Self.checkIsPortable(fields, unlike: stored, id)
      if shown == nil, let field = entity?.schemaVersionField, fields[field] == nil {
        fields[field] = Array("\(entity?.schemaVersion ?? 1)".utf8)[...]
      }
      var payload = fields.payload
      if let before, before.hasSameMembers(as: payload) { payload = before }
      return .upsert(payload, schemaVersion: try Self.schemaVersion(of: payload, id, entity))
    }
  }

  /// Throws for new values that no remote could receive.
  ///
  /// Their edit would wait forever, and delay other edits. Such values in the stored record came
  /// from the remote, and stay unchanged.
  private static func checkIsPortable(
    _ fields: FieldMap, unlike stored: FieldMap, _ id: RecordID
  ) throws(SyncError) {
    for field in fields.fields where fields[field] != stored[field] {
      guard let value = fields[field], let flaw = UnportableJSON(in: value) else { continue }
      throw SyncError(
        .invalidEdit, during: "editing \(id)",
        "The value for \(field) \(flaw.description), which is not portable JSON.")
    }
  }

  /// Deletes a record that was read. An absent record stays absent.
  public mutating func delete<T: SyncedRecord>(_ record: Stored<T>) throws(SyncError) {
    try delete(record.recordID)
  }

  /// Deletes a record. An absent record stays absent.
  public mutating func delete(_ id: RecordID) throws(SyncError) {
    try writer.edit(id) { (_) throws(SyncError) in .deletion }
  }

  private static func fields(_ id: RecordID, _ encoded: () throws -> FieldMap) throws(SyncError) -> FieldMap {
    do {
      return try encoded()
    } catch {
      throw SyncError(
        .invalidEdit, during: "editing \(id)",
        "The value cannot be written as one JSON object. \(CodingFlaw(error))",
        underlying: error)
    }
  }

  private static func schemaVersion(
    of payload: Payload, _ id: RecordID, _ entity: Entity?
  ) throws(SyncError) -> Int {
    guard let entity else { return 1 }
    let version: Int?
    do {
      version = try entity.schemaVersion(of: payload)
    } catch {
      throw SyncError(.invalidEdit, during: "editing \(id)", "It is not one JSON object: \(error).")
    }
    guard let version, version <= entity.schemaVersion else {
      throw SyncError(
        .invalidEdit, during: "editing \(id)",
        "Its schema version is not supported; the app supports up to \(entity.schemaVersion)."
      )
    }
    return version
  }
}

/// Lays a typed value over a stored record, at every level of nesting.
///
/// Members that the type does not know stay unchanged. Members of objects are taken one by one;
/// arrays and scalars are taken whole.
struct TypedOverlay {
  /// How the type's own members are determined.
  enum Source {
    /// By encoding the stored record as the type.
    case asStored
    /// By encoding the new value, with null for each optional that is nil.
    ///
    /// This is for a stored record that does not decode as the type.
    case named
  }

  private let own: FieldMap
  private let source: Source

  /// - Parameter own: The type's own members.
  init(_ own: FieldMap, _ source: Source) {
    self.own = own
    self.source = source
  }

  /// Lays an object's new members over its stored ones.
  func lay(_ new: FieldMap, over stored: inout FieldMap) {
    for field in own.fields where new[field] == nil { stored[field] = nil }
    for field in new.fields {
      if source == .asStored, own.hasSameValue(as: new, for: field) { continue }
      stored[field] = merged(field, new, stored)
    }
  }

  private func merged(_ field: FieldName, _ new: FieldMap, _ stored: FieldMap) -> ArraySlice<UInt8>? {
    guard let inner = new[field].flatMap(FieldMap.init(object:)),
      var kept = stored[field].flatMap(FieldMap.init(object:))
    else { return new[field] }
    // Without a counterpart, no nested member is known to be the type's.
    let own = own[field].flatMap(FieldMap.init(object:)) ?? FieldMap()
    TypedOverlay(own, source).lay(inner, over: &kept)
    return kept.payload.bytes
  }
}

extension FieldMap {
  /// Parses the members of a value that is an object.
  fileprivate init?(object bytes: ArraySlice<UInt8>) {
    guard bytes.first == UInt8(ascii: "{"), let map = try? FieldMap(Payload(bytes)) else { return nil }
    self = map
  }
}
