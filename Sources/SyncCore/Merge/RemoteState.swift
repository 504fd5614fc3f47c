import SyncModels

/// The remote state of one record: a copy or a deletion.
enum RemoteState: Hashable {
  case copy(Record)
  case deletion(Tombstone)

  init?(_ change: RecordChange) {
    switch change {
    case .upsert(let record): self = .copy(record)
    case .tombstone(let tombstone): self = .deletion(tombstone)
    case .malformed: return nil
    }
  }

  var change: RecordChange {
    switch self {
    case .copy(let record): .upsert(record)
    case .deletion(let tombstone): .tombstone(tombstone)
    }
  }

  var version: Version {
    switch self {
    case .copy(let record): record.version
    case .deletion(let tombstone): tombstone.version
    }
  }

  var payload: Payload? {
    if case .copy(let record) = self { record.payload } else { nil }
  }

  /// The stamp of the edit that led to the state, as the remote states it.
  func stamp(by entity: Entity) -> EditStamp? {
    switch self {
    case .copy(let record): entity.stamp(in: record.payload)
    case .deletion(let tombstone): tombstone.stamp
    }
  }

  var schemaVersion: Int? {
    if case .copy(let record) = self { record.schemaVersion } else { nil }
  }

  /// The base of edits that are made on this state.
  var base: OutboxEntry.Base {
    switch self {
    case .copy(let record): .copy(record)
    case .deletion(let tombstone): .deleted(tombstone)
    }
  }

  /// The row of the record without a pending edit.
  var row: EditSettlement.Row {
    switch self {
    case .copy(let record): .live(record)
    case .deletion(let tombstone): .deleted(tombstone)
    }
  }

  /// Whether the state equals the result of an edit.
  func isSame(as content: Edit.Content) -> Bool {
    switch (self, content) {
    case (.deletion, .deletion): true
    case (.copy(let record), .upsert(let payload, _)): record.payload.hasSameMembers(as: payload)
    default: false
    }
  }

  /// Whether the state is the result of an edit on its base.
  ///
  /// It then has all that was sent, perhaps members that the remote added, but none that the edit
  /// removed.
  func fulfils(_ content: Edit.Content, on base: OutboxEntry.Base) -> Bool {
    if isSame(as: content) { return true }
    guard case .copy(let record) = self, case .upsert(let payload, _) = content,
      let theirs = try? FieldMap(record.payload), var ours = try? FieldMap(payload)
    else { return false }
    // The stamps may differ between two sends of one edit, and between two equal edits.
    ours[.editStamp] = theirs[.editStamp]
    let before = base.record.flatMap { try? FieldMap($0.payload) } ?? FieldMap()
    return theirs.contains(ours) && before.fields.allSatisfy { ours[$0] != nil || theirs[$0] == nil }
  }

  /// Whether the state equals the last remote state.
  func isSame(as base: OutboxEntry.Base) -> Bool {
    switch (self, base) {
    case (.deletion, .deleted): true
    case (.copy(let record), .copy(let known)): record.payload.hasSameMembers(as: known.payload)
    default: false
    }
  }
}
