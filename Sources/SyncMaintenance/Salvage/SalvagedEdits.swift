import SyncCore
import SyncModels
import SyncPorts

/// Makes edits of a damaged store fit for a new one.
///
/// An edit is its record and its content. Whatever else of its entry is damaged gets a value with
/// which the edit is pushed and settled as usual.
struct SalvagedEdits {
  /// The epoch of each type whose checkpoint could be read.
  let epochs: [RecordType: Int64]
  private var seen: Set<RecordID> = []
  private var stamps: [RecordType: Set<EditStamp>] = [:]
  /// The last stamp that was given to an edit instead of its own.
  private var given: [RecordType: [EditStamp: EditStamp]] = [:]

  init(epochs: [RecordType: Int64]) {
    self.epochs = epochs
  }

  /// Returns the entry for the new store; `nil` for an edit without readable content.
  mutating func repaired(_ entry: OutboxEntry) -> OutboxEntry? {
    if let payload = entry.edit.content.payload, !payload.isObject { return nil }
    guard !entry.id.key.isEmpty, seen.insert(entry.id).inserted else { return nil }
    var entry = entry
    if let record = entry.base.record, !record.payload.isObject { entry.base = .none }
    if let payload = entry.sent?.content.payload, !payload.isObject { entry.sent = nil }
    entry.edit.content = entry.edit.content.ofASchema
    if let sent = entry.sent { entry.sent?.content = sent.content.ofASchema }
    entry.base = entry.base.inEpoch(atMost: epochs[entry.id.type] ?? 0).ofASchema
    if !StoredNumbers.counts.contains(Int64(entry.attempts)) { entry.attempts = 0 }
    entry.leaves = Array(Set(entry.leaves.filter { !$0.key.isEmpty && $0 != entry.id })).sorted()
    if case .rebuild(let rebuilt) = entry.author {
      let isIntact = StoredNumbers.counts.contains(rebuilt.pass) && rebuilt.winner?.key.isEmpty != true
      if !isIntact { entry.author = .app }
    }
    restamp(&entry)
    return entry
  }

  /// Gives an edit a stamp of its own: the outbox is read by stamps.
  private mutating func restamp(_ entry: inout OutboxEntry) {
    let (type, stamp) = (entry.id.type, entry.edit.stamp)
    // Of many edits with one stamp, each follows the one before it.
    if let last = given[type]?[stamp] { entry.edit.stamp = last }
    while !stamps[entry.id.type, default: []].insert(entry.edit.stamp).inserted {
      let (counter, isBeyond) = entry.edit.stamp.counter.addingReportingOverflow(1)
      entry.edit.stamp.counter = counter
      if isBeyond { entry.edit.stamp.replica += "+" }
    }
    if entry.edit.stamp != stamp { given[type, default: [:]][stamp] = entry.edit.stamp }
  }
}

extension OutboxEntry {
  /// The same edit, of the record with the same key in a type.
  func of(_ type: RecordType) -> OutboxEntry {
    guard type != id.type else { return self }
    let id = RecordID(type: type, key: id.key)
    let base: Base =
      switch base {
      case .none: .none
      case .copy(let copy):
        .copy(
          Record(
            id: id, version: copy.version, entityTag: copy.entityTag, schemaVersion: copy.schemaVersion,
            payload: copy.payload, fields: copy.fields))
      case .deleted(let deleted):
        .deleted(Tombstone(id: id, version: deleted.version, entityTag: deleted.entityTag))
      }
    return OutboxEntry(
      id: id, edit: edit, base: base, sent: sent, state: state, attempts: attempts, author: author,
      leaves: leaves)
  }
}

extension Edit.Content {
  /// The content, with the first schema if its own is none.
  fileprivate var ofASchema: Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self, schemaVersion < 1 else { return self }
    return .upsert(payload, schemaVersion: 1)
  }
}

extension OutboxEntry.Base {
  /// The base, with the first schema if its own is none.
  fileprivate var ofASchema: OutboxEntry.Base {
    guard case .copy(var record) = self, record.schemaVersion < 1 else { return self }
    record.schemaVersion = 1
    return .copy(record)
  }

  /// Returns the base with a version that the new store's checkpoint can follow.
  ///
  /// Copies of the next listing have the checkpoint's epoch. A base of a later one would seem newer
  /// than every copy.
  fileprivate func inEpoch(atMost epoch: Int64) -> OutboxEntry.Base {
    guard let version, version != .unversioned, version.epoch > epoch || version.epoch < 0 else {
      return self
    }
    switch self {
    case .none: return self
    case .copy(var record):
      record.version.epoch = epoch
      return .copy(record)
    case .deleted(var tombstone):
      tombstone.version.epoch = epoch
      return .deleted(tombstone)
    }
  }
}
