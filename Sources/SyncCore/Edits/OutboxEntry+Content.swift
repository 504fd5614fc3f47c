package import SyncModels

extension OutboxEntry {
  /// Returns the row during the pending edit: the edit, at the base's version.
  func row(of entity: Entity) -> EditSettlement.Row {
    let version = base.version ?? .unversioned
    switch edit.content {
    case .deletion:
      return .deleted(Tombstone(id: id, version: version, entityTag: base.entityTag))
    case .upsert(let payload, let schemaVersion):
      // The payload was parsed when the edit was made. On a failure the fields stay empty.
      let fields = (try? entity.fields(of: payload)) ?? []
      return .live(
        Record(
          id: id, version: version, entityTag: base.entityTag, schemaVersion: schemaVersion,
          payload: payload, fields: fields))
    }
  }

  /// Returns what readers see during the pending edit.
  package func visible(of entity: Entity) -> RecordChange {
    switch row(of: entity) {
    case .live(let record): .upsert(record)
    case .deleted(let tombstone): .tombstone(tombstone)
    }
  }

  /// Returns the row after the edit: the remote's own bytes if there is nothing to push.
  func shown(of entity: Entity, isMoot: Bool) -> EditSettlement.Row {
    isMoot ? base.row(of: id, entity) : row(of: entity)
  }

  /// Whether there is nothing to push.
  ///
  /// Either the record equals the remote state, or it is deleted and the remote never had it.
  var isMoot: Bool {
    guard sent == nil else { return false }
    return switch edit.content {
    case .deletion: if case .copy = base { false } else { true }
    case .upsert(let payload, _): base.record?.payload.hasSameMembers(as: payload) ?? false
    }
  }
}

extension OutboxEntry {
  /// Whether the remote has had the record, or perhaps has got this edit of it.
  ///
  /// An edit of a type that is local by now then waits until the type is synced again.
  var isKnownToTheRemote: Bool { sent != nil || (base.version ?? .unversioned) != .unversioned }

  /// Whether an edit on top of this one, which was not sent, leads back to the base but for the stamp.
  ///
  /// A stamp in a field of the app's choice is the only trace of what was done and undone.
  func undoes(_ content: Edit.Content, _ entity: Entity) -> Bool {
    guard sent == nil, case .field(let field) = entity.stamping, case .upsert(let payload, _) = content,
      let copy = base.record, var ours = try? FieldMap(payload), let theirs = try? FieldMap(copy.payload)
    else { return false }
    ours[field] = theirs[field]
    return copy.payload.hasSameMembers(as: ours.payload)
  }
}

extension OutboxEntry.Base {
  /// Returns the row without a pending edit: the last remote state, byte for byte.
  func row(of id: RecordID, _ entity: Entity) -> EditSettlement.Row {
    switch self {
    case .copy(let record): return .live(record.withFields(of: entity))
    case .deleted(let tombstone): return .deleted(tombstone)
    case .none: return .deleted(Tombstone(id: id, version: .unversioned))
    }
  }

  /// The entity tag of the last remote state.
  var entityTag: String? {
    switch self {
    case .none: nil
    case .copy(let record): record.entityTag
    case .deleted(let tombstone): tombstone.entityTag
    }
  }

  /// Returns the base of a record without an edit: the last remote state, as the row shows it.
  static func shown(_ record: Record) -> OutboxEntry.Base {
    var record = record
    record.fields = []
    return .copy(record)
  }
}

extension OutboxEntry {
  /// Returns the records that the base refers to and the edit does not; see ``leaves``.
  func departures(of entity: Entity) -> [RecordID] {
    guard !entity.references.isEmpty, case .copy(let record) = base else { return [] }
    let before = entity.allReferences(of: record, reading: record.payload)
    guard !before.isEmpty, let payload = edit.content.payload else { return before }
    let after = entity.allReferences(of: record, reading: payload)
    return before.filter { !after.contains($0) }
  }
}

extension Entity {
  /// Returns the records that a payload of a record refers to, except the record itself.
  fileprivate func allReferences(of record: Record, reading payload: Payload) -> [RecordID] {
    var record = record
    record.fields = (try? fields(of: payload)) ?? []
    return allReferences(of: record)
  }
}

extension Edit.Content {
  var schemaVersion: Int? {
    if case .upsert(_, let schemaVersion) = self { schemaVersion } else { nil }
  }

  /// Whether a record shows this content already.
  func isShown(by record: Record) -> Bool {
    guard case .upsert(let payload, let schemaVersion) = self else { return false }
    return schemaVersion == record.schemaVersion && payload == record.payload
  }

  /// Returns the content with the values of immutable fields that the record has already.
  func keepingImmutable(_ shown: Record?, _ entity: Entity) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self else { return self }
    return .upsert(entity.keepingImmutable(payload, shown?.payload), schemaVersion: schemaVersion)
  }

  /// Returns the content with the edit's stamp, if the type declares a field for it.
  ///
  /// - Parameter isKnown: Whether the remote has the record, though the type is local by now.
  func stamped(_ stamp: EditStamp, by entity: Entity, isKnown: Bool = false) -> Edit.Content {
    guard isKnown || entity.access != .local, case .upsert(let payload, let schemaVersion) = self else {
      return self
    }
    return .upsert(entity.stamped(payload, stamp), schemaVersion: schemaVersion)
  }
}
