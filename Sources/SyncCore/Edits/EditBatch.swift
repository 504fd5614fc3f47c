import SyncJSON
public import SyncModels
package import SyncPorts

/// Several edits in one transaction. Each edit sees the ones before it.
public struct EditBatch {
  var writer: EditWriter
  let schema: SyncSchema
  let options: EditOptions
  /// The transaction that the edits are made in.
  package let transaction: any StoreTransaction
  /// What to tell observers once the transaction is committed.
  var events: [SyncEvent] = []
  /// What these edits save of values that were read.
  private(set) var saves: FormSaves.Uncommitted = [:]

  /// Returns the current record, with the edits made so far.
  public func record(_ id: RecordID) throws(SyncError) -> Record? {
    try transaction.record(id)
  }

  /// Returns the current record as the app's type, with the edits so far.
  ///
  /// - Throws: ``SyncError`` with code `undecodable` for a record that does not decode.
  public func find<T: SyncedRecord>(_ type: T.Type, key: String) throws(SyncError) -> Stored<T>? {
    let id = RecordID(type: T.recordType, key: key)
    let found = try [transaction.record(id)].compactMap(\.self)
    return try ReadRecords(found, of: id.type, in: transaction).list {
      (record, edit) throws(Undecodable) in
      try record.stored(by: ModelReader(type, habits: nil), edit: edit, in: schema, reportingTo: { _ in })
    }.complete().first
  }

  /// Returns the current record of an `id`; see ``find(_:key:)``.
  public func find<T: SyncedRecord & Identifiable>(
    _ type: T.Type, id: T.ID
  ) throws(SyncError) -> Stored<T>? where T.ID: RecordKey {
    try find(type, key: try transaction.key(of: id, type))
  }

  /// Returns the records that a query selects, with the edits made so far.
  public func records(_ query: Query) throws(SyncError) -> [Record] {
    try transaction.records(query, by: schema.keyMembers(of: query.type))
  }

  /// Updates a record to a value, or inserts it; see ``LocalEdits/upsert(_:key:)``.
  public mutating func upsert<T: SyncedRecord & Encodable>(_ value: T, key: String) throws(SyncError) {
    let former = try Self.id(of: value, key: key)
    let id = try writer.current(former)
    try set(id) { (fields) throws(SyncError) in
      var new = try Self.fields(id) { try value.fields() }
      // The value was made before the remote gave the record a key of its own.
      if id != former, let member = T.coding.keyMember { new[member] = fields[member] }
      // A new record has no stored members to keep.
      guard !fields.fields.isEmpty else { return fields = new }
      let stored = fields.payload
      if let old = try? stored.decoded(as: T.self, key: id.key) {
        let overlay = TypedOverlay(try Self.fields(id) { try old.fields() }, .asStored)
        // The key stands for the member where the remote leaves it out.
        if let member = T.coding.keyMember, fields[member] == nil, T.self is any Identifiable.Type {
          new[member] = nil
        }
        overlay.lay(new, over: &fields)
      } else {
        let overlay = TypedOverlay(try Self.fields(id) { try value.fields(spellingNil: true) }, .named)
        let now = fields
        overlay.lay(new, over: &fields)
        overlay.takeWhole(new, since: nil, now, in: &fields) { Self.isReadable($0, as: T.self, id) }
      }
    }
  }

  private static func isReadable<T: SyncedRecord>(_ fields: FieldMap, as type: T.Type, _ id: RecordID) -> Bool
  {
    (try? fields.payload.decoded(as: type, key: id.key)) != nil
  }

  /// Updates or inserts the record of the value's own key; see ``LocalEdits/upsert(_:key:)``.
  public mutating func upsert<T: SyncedRecord & Encodable & Identifiable>(
    _ value: T
  ) throws(SyncError) where T.ID: RecordKey {
    let key = try transaction.key(of: value.id, T.self)
    try upsert(value, key: key)
  }

  /// Writes what the app has changed of a record that was read; see
  /// ``LocalEdits/upsert(_:ifUnchanged:)``.
  public mutating func upsert<T: SyncedRecord & Encodable>(
    _ record: Stored<T>, ifUnchanged: Bool = false
  ) throws(SyncError) {
    guard let last = lastSave(of: record) else {
      if ifUnchanged { throw Self.unread(record.recordID) }
      return try upsert(record.value, key: record.key)
    }
    let id = try target(of: record.recordID, readAs: last.view)
    guard let form = record.saves else {
      try write(record, to: id, after: last, ifUnchanged: ifUnchanged)
      return
    }
    form.begin()
    let before = try self.record(id)?.payload
    let isKnown = before?.hasSameMembers(as: last.stored) ?? false
    let (new, overlay) = try write(record, to: id, after: last, ifUnchanged: ifUnchanged)
    var save = last
    var view = try Self.members(of: save.view, id)
    overlay.lay(new, over: &view)
    save.view = view.payload
    // A form that does not show what others have changed stays one of a changed record.
    if isKnown, let stored = try self.record(id)?.payload { save.stored = stored }
    saves[ObjectIdentifier(form)] = (form, save)
  }

  /// What a value is compared with: the last save of it, or else what was read; `nil` for a value that was not
  /// read.
  private func lastSave<T>(of record: Stored<T>) -> FormSaves.Save? {
    record.saves?.last(saves) ?? record.read
  }

  /// The record that a form is saved to: the one that was read, or the duplicate that it was merged into.
  private mutating func target(of former: RecordID, readAs origin: Payload) throws(SyncError) -> RecordID {
    let id = try writer.current(former)
    guard let entity = schema[id.type], entity.naturalKey != nil, try record(id) == nil else { return id }
    return try ArrivedDuplicates.heir(of: id, readAs: origin, entity, in: transaction) ?? id
  }

  /// - Parameter id: The record that the value is saved to.
  /// - Returns: The value's members, and what lays them over what was read or saved before.
  @discardableResult
  private mutating func write<T: SyncedRecord & Encodable>(
    _ record: Stored<T>, to id: RecordID, after last: FormSaves.Save, ifUnchanged: Bool = false
  ) throws(SyncError) -> (FieldMap, TypedOverlay) {
    let former = try Self.id(of: record.value, key: record.key)
    let read: T
    do throws(Undecodable) {
      read = try last.view.decoded(as: T.self, key: former.key)
    } catch {
      throw SyncError(.undecodable, during: "editing \(id)", "\(error).", underlying: error)
    }
    let new = try Self.fields(id) { try record.value.fields() }
    let overlay = TypedOverlay(try Self.fields(id) { try read.fields() }, .asRead)
    try upsert(id, new, by: overlay, after: last, ifUnchanged: ifUnchanged) {
      Self.isReadable($0, as: T.self, id)
    }
    return (new, overlay)
  }

  private mutating func upsert(
    _ id: RecordID, _ new: FieldMap, by overlay: TypedOverlay, after last: FormSaves.Save, ifUnchanged: Bool,
    isReadable: (FieldMap) -> Bool
  ) throws(SyncError) {
    let origin = last.view
    let entity = try writable(id)
    let (preview, options) = (writer, options)
    var told: [SyncEvent] = []
    try writer.edit(id) { (shown) throws(SyncError) in
      if ifUnchanged { try Self.demand(id, shown, isAsRead: last.stored) }
      let (before, now) = (
        try Self.members(of: origin, id), try Self.members(of: shown?.payload ?? origin, id)
      )
      var fields = now
      overlay.lay(new, over: &fields)
      let isMet = shown == nil || overlay.meets(now, since: before, changing: new)
      if isMet, ![fields, now].allSatisfy(isReadable) {
        overlay.takeWhole(new, since: before, now, in: &fields, unless: isReadable)
      }
      try Self.checkIsPortable(fields, unlike: now, id)
      let content = try Self.content(of: fields, onto: shown, id, entity)
      guard isMet else { return content }
      let meeting = try preview.meeting(content, of: id, entity, readAs: origin, shown: shown, options)
      told += meeting.events
      return meeting.content
    }
    events += told
  }

  /// Changes a record's value in this transaction.
  ///
  /// See ``LocalEdits/update(_:key:_:)``.
  public mutating func update<T: SyncedRecord & Encodable, R>(
    _ type: T.Type, key: String, _ change: (inout T) throws(SyncError) -> R
  ) throws(SyncError) -> R {
    guard var record = try find(type, key: key) else {
      throw Self.absent(RecordID(type: T.recordType, key: key))
    }
    let result = try change(&record.value)
    if let read = record.read { try write(record, to: record.recordID, after: read) }
    return result
  }

  /// Changes the value of an `id`'s record; see ``LocalEdits/update(_:key:_:)``.
  public mutating func update<T: SyncedRecord & Encodable & Identifiable, R>(
    _ type: T.Type, id: T.ID, _ change: (inout T) throws(SyncError) -> R
  ) throws(SyncError) -> R where T.ID: RecordKey {
    try update(type, key: try transaction.key(of: id, type), change)
  }

  /// Changes some members of a record, or inserts a record with only them.
  ///
  /// A record that this store has not pulled yet is not here. An insertion under its key competes
  /// with the remote's whole record, by the type's policy. To change only what is here, use
  /// ``update(_:_:)``.
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
    let entity = try writable(id)
    let id = try writer.current(id)
    try writer.edit(id) { (shown) throws(SyncError) in
      let stored = if let shown { try Self.members(of: shown.payload, id) } else { FieldMap() }
      var fields = stored
      try change(&fields)
      try Self.checkIsPortable(fields, unlike: stored, id)
      return try Self.content(of: fields, onto: shown, id, entity)
    }
  }

  /// Changes some members of a record that is here.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - change: Receives the stored record's members. Values are JSON.
  /// - Throws: `invalidEdit` if the record is not here; otherwise as ``set(_:_:)``.
  public mutating func update(
    _ id: RecordID, _ change: (inout FieldMap) throws(SyncError) -> Void
  ) throws(SyncError) {
    _ = try writer.entity(of: id)
    let id = try writer.current(id)
    guard try record(id) != nil else { throw Self.absent(id) }
    try set(id, change)
  }

  /// The declaration of a record that the app may edit.
  mutating func writable(_ id: RecordID) throws(SyncError) -> Entity {
    let entity = try writer.entity(of: id)
    if entity.access != .readOnly { return entity }
    throw SyncError(
      .invalidEdit, during: "editing \(id)", "The type \(id.type) is declared as read-only.")
  }

  private static func members(of payload: Payload, _ id: RecordID) throws(SyncError) -> FieldMap {
    do {
      return try FieldMap(payload)
    } catch {
      throw SyncError(
        .invalidEdit, during: "editing \(id)", "The stored payload is not one JSON object: \(error).")
    }
  }

  /// Returns the content of an edit with some members, in the stored bytes where they are equal.
  static func content(
    of fields: FieldMap, onto shown: Record?, _ id: RecordID, _ entity: Entity?
  ) throws(SyncError) -> Edit.Content {
    var payload = fields.payload
    if let shown, shown.payload.hasSameMembers(as: payload) {
      payload = shown.payload
      // An upgrade has converted the copy, which still tells the version that the remote has.
      let version = try Self.schemaVersion(of: payload, id, entity)
      return .upsert(
        payload, schemaVersion: max(version, min(shown.schemaVersion, entity?.schemaVersion ?? 1)))
    }
    if let entity, let field = entity.schemaVersionField {
      let version = shown.map { min($0.schemaVersion, entity.schemaVersion) } ?? entity.schemaVersion
      let written = shown == nil ? nil : try Self.schemaVersion(of: payload, id, entity)
      if written.map({ $0 < version }) ?? (fields[field] == nil) {
        var fields = fields
        fields[field] = Array("\(version)".utf8)[...]
        payload = fields.payload
      }
    }
    return .upsert(payload, schemaVersion: try Self.schemaVersion(of: payload, id, entity))
  }

  /// Returns the record that a value is written to.
  static func id<T: SyncedRecord>(of value: T, key: String) throws(SyncError) -> RecordID {
    let id = RecordID(type: T.recordType, key: key)
    guard value.isNamed(otherThan: key) else { return id }
    throw SyncError(
      .invalidEdit, during: "editing \(id)",
      "The value's id names another record. Edit that one, or declare in its coding that id is not the key.")
  }

  private static func absent(_ id: RecordID) -> SyncError {
    SyncError(
      .invalidEdit, during: "updating \(id)",
      "There is no such record here. Insert one by upsert or set, or sync first.")
  }

  private static func unread(_ id: RecordID) -> SyncError {
    SyncError(
      .invalidEdit, during: "editing \(id)",
      "Whether it is unchanged is known only of a value that was read: find it, change it, and write that.")
  }

  /// - Throws: `changedMeanwhile` unless a record is as it was read.
  private static func demand(
    _ id: RecordID, _ shown: Record?, isAsRead origin: Payload
  ) throws(SyncError) {
    if let shown, shown.payload.hasSameMembers(as: origin) { return }
    throw SyncError(
      .changedMeanwhile, during: "editing \(id)",
      "It has been \(shown == nil ? "deleted" : "changed") since it was read. Read it again.")
  }

  /// Throws for new values that no remote could receive.
  ///
  /// Their edit would wait forever, and delay other edits. Such values in the stored record came
  /// from the remote, and stay unchanged.
  static func checkIsPortable(
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
  ///
  /// - Parameters:
  ///   - record: A record that was read.
  ///   - ifUnchanged: Whether it has to be as it was read.
  /// - Throws: `changedMeanwhile` if it has to be and is not; otherwise as ``LocalEdits/delete(_:)-(RecordID)``.
  public mutating func delete<T: SyncedRecord>(
    _ record: Stored<T>, ifUnchanged: Bool = false
  ) throws(SyncError) {
    if ifUnchanged {
      guard let last = lastSave(of: record) else { throw Self.unread(record.recordID) }
      try Self.demand(record.recordID, try self.record(record.recordID), isAsRead: last.stored)
    }
    try delete(record.recordID)
  }

  /// Deletes the record of an `id`. An absent record stays absent.
  public mutating func delete<T: SyncedRecord & Identifiable>(
    _ type: T.Type, id: T.ID
  ) throws(SyncError) where T.ID: RecordKey {
    try delete(RecordID(type: T.recordType, key: try transaction.key(of: id, type)))
  }

  /// Deletes a record. An absent record stays absent.
  public mutating func delete(_ id: RecordID) throws(SyncError) {
    _ = try writable(id)
    try writer.edit(try writer.current(id)) { (_) throws(SyncError) in .deletion }
  }

  static func fields(_ id: RecordID, _ encoded: () throws -> FieldMap) throws(SyncError) -> FieldMap {
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
