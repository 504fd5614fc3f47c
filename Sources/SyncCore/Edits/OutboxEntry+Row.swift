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
