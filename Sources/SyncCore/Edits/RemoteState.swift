import SyncModels

/// The remote's word on one record: its copy, or its deletion.
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

  var schemaVersion: Int? {
    if case .copy(let record) = self { record.schemaVersion } else { nil }
  }

  /// What an edit is made on once this is known.
  var base: OutboxEntry.Base {
    switch self {
    case .copy(let record): .copy(record)
    case .deletion(let tombstone): .deleted(tombstone)
    }
  }

  /// What the row shows where no edit is pending.
  var row: EditSettlement.Row {
    switch self {
    case .copy(let record): .live(record)
    case .deletion(let tombstone): .deleted(tombstone)
    }
  }

  /// Whether it is exactly what an edit wants.
  func isSame(as content: Edit.Content) -> Bool {
    switch (self, content) {
    case (.deletion, .deletion): true
    case (.copy(let record), .upsert(let payload, _)): record.payload.hasSameMembers(as: payload)
    default: false
    }
  }

  /// Whether it is what an edit, applied to its base, leaves behind: all that was sent, and perhaps members of the remote's own, but none that
  /// the edit removed.
  func fulfils(_ content: Edit.Content, on base: OutboxEntry.Base) -> Bool {
    if isSame(as: content) { return true }
    guard case .copy(let record) = self, case .upsert(let payload, _) = content,
      let theirs = try? FieldMap(record.payload), var ours = try? FieldMap(payload)
    else { return false }
    // Of one edit that was sent twice, and of two that say the same, the stamps may differ.
    ours[.editStamp] = theirs[.editStamp]
    let before = base.record.flatMap { try? FieldMap($0.payload) } ?? FieldMap()
    return theirs.contains(ours) && before.fields.allSatisfy { ours[$0] != nil || theirs[$0] == nil }
  }

  /// Whether it says what the remote's last word said.
  func isSame(as base: OutboxEntry.Base) -> Bool {
    switch (self, base) {
    case (.deletion, .deleted): true
    case (.copy(let record), .copy(let known)): record.payload.hasSameMembers(as: known.payload)
    default: false
    }
  }
}
