import SyncModels
import SyncPorts

/// One state of a store, read.
class MemorySnapshot: StoreSnapshot {
  private let identity: String
  fileprivate(set) final var state: StoreState

  init(identity: String, state: StoreState) {
    self.identity = identity
    self.state = state
  }

  func storeIdentity() -> String { identity }

  func registeredEntities() -> [Entity] {
    state.tables.values.map(\.entity).sorted { $0.type < $1.type }
  }

  func records(_ query: Query) throws(SyncError) -> [Record] {
    try state.table(query.type, during: "reading \(query.type)").records(query)
  }

  func count(_ query: Query) throws(SyncError) -> Int {
    try state.table(query.type, during: "counting \(query.type)").count(query)
  }

  func records(withIDs ids: [RecordID]) -> [Record?] {
    ids.map { row(of: $0)?.record }
  }

  func state(of id: RecordID) -> StoredState? {
    stored(id, payload: nil)
  }

  func checkpoint(for type: RecordType) -> Checkpoint? {
    state.checkpoints[type]
  }

  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    state.shelf.entries(type, kinds: kinds, after: after, limit: limit)
  }

  func withheld(for keys: [WithheldChange.Key]) -> [WithheldChange] {
    keys.compactMap { state.shelf[$0] }
  }

  func withheld(
    referringTo ids: [RecordID], kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    state.shelf.entries(referringTo: ids, kinds: kinds, after: after, limit: limit)
  }

  func withheldCounts(_ type: RecordType) -> [WithheldChange.Kind: Int] {
    state.shelf.counts(type)
  }

  func value(forKey key: String) -> [UInt8]? {
    state.values[UTF8Key(key)]
  }

  func keys(withPrefix prefix: String, after: String?, limit: Int) -> [String] {
    guard limit > 0 else { return [] }
    let start = UTF8Key(prefix)
    let after = after.map { UTF8Key($0) }
    // Names before the prefix are not asked for, whatever they are said to come after.
    var keys: [String] = []
    for (key, _) in state.values.entries(from: max(start, after ?? start)) where key != after {
      guard keys.count < limit, key.string.utf8.starts(with: prefix.utf8) else { break }
      keys.append(key.string)
    }
    return keys
  }

  func unmarkedCount(_ type: RecordType) -> (unmarked: Int, live: Int) {
    guard let table = state.tables[type] else { return (0, 0) }
    return (table.liveCount - table.markedCount, table.liveCount)
  }

  func unmarked(_ type: RecordType, afterKey: String?, limit: Int) -> [Tombstone] {
    state.tables[type]?.unmarked(afterKey: afterKey, limit: limit) ?? []
  }

  func outbox(for ids: [RecordID]) -> [OutboxEntry] {
    ids.compactMap { state.outbox[$0] }
  }

  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) -> [OutboxEntry] {
    state.outbox.entries(type, after: after, limit: limit)
  }

  func outbox(leaving ids: [RecordID], limit: Int) -> [[OutboxEntry]] {
    ids.map { state.outbox.entries(leaving: $0, limit: limit) }
  }

  func outboxCount(_ type: RecordType) -> Int {
    state.outbox.count(type)
  }

  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) -> [Conflict] {
    state.conflicts.conflicts(type, before: before, limit: limit)
  }

  func records(ofType type: RecordType, withNaturalKeys keys: [String]) -> [[Record]] {
    guard let table = state.tables[type] else { return keys.map { _ in [] } }
    return keys.map { table.naturalKeys.ids(with: $0).compactMap { table[$0.key]?.record } }
  }

  func records(ofType type: RecordType, in groups: [DuplicateGroup]) -> [[Record]] {
    records(ofType: type, withNaturalKeys: groups.map(\.key))
  }

  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) -> [DuplicateGroup] {
    state.tables[type]?.duplicates(after: key, limit: limit) ?? []
  }

  fileprivate final func row(of id: RecordID) -> Row? {
    state.tables[id.type]?[id.key]
  }

  fileprivate final func stored(_ id: RecordID, payload: Payload?) -> StoredState? {
    guard let table = state.tables[id.type], let row = table[id.key] else { return nil }
    return StoredState(
      version: row.version, isDeleted: row.record == nil,
      hasSamePayload: payload != nil && row.record?.payload == payload, isMarked: table.isMarked(row))
  }
}

/// A state of a store being changed; what becomes of it is the store's to decide.
final class MemoryTransaction: MemorySnapshot, StoreTransaction {
  func states(of copies: [Record]) -> [StoredState?] {
    copies.map { stored($0.id, payload: $0.payload) }
  }

  func states(of tombstones: [Tombstone]) -> [StoredState?] {
    tombstones.map { stored($0.id, payload: nil) }
  }

  func absent(among ids: [RecordID]) -> [RecordID] {
    ids.filter { row(of: $0)?.record == nil }
  }

  func referenced(among ids: [RecordID]) -> Set<RecordID> {
    let tables = state.tables.values
    return Set(
      ids.filter { id in
        tables.contains { table in
          table.entity.references.contains {
            $0.isOrdered && $0.target == id.type && table.refers(to: id, by: $0.field)
          }
        }
      })
  }

  func put(_ copies: [Record]) throws(SyncError) {
    for copy in copies {
      try state.change(copy.id.type, during: "writing \(copy.id.type)") { $0.put(copy) }
    }
  }

  func touch(_ copies: [Record]) throws(SyncError) {
    for copy in copies {
      try state.change(copy.id.type, during: "writing \(copy.id.type)") { $0.touch(copy) }
    }
  }

  func delete(_ tombstones: [Tombstone]) throws(SyncError) {
    for tombstone in tombstones {
      let type = tombstone.id.type
      try state.change(type, during: "deleting \(type)") { $0.delete(tombstone) }
    }
  }

  func withheld(_ entries: [WithheldChange]) {
    for entry in entries { state.shelf.file(entry, state.tables[entry.key.type]?.entity) }
  }

  func release(_ keys: [WithheldChange.Key]) {
    for key in keys { state.shelf.remove(key) }
  }

  func parked(waitingFor ids: [RecordID], limit: Int) -> [WithheldChange] {
    state.shelf.parked(waitingFor: ids, limit: limit)
  }

  func mark(_ ids: [RecordID]) throws(SyncError) {
    for id in ids {
      try state.change(id.type, during: "marking \(id.type)") { $0.mark(id.key) }
    }
  }

  func clearMarks(_ type: RecordType) throws(SyncError) {
    try state.change(type, during: "clearing the marks of \(type)") { $0.clearMarks() }
  }

  func queue(_ entries: [OutboxEntry]) {
    for entry in entries { state.outbox[entry.id] = entry }
  }

  func dequeue(_ ids: [RecordID]) {
    for id in ids { state.outbox[id] = nil }
  }

  func log(_ conflicts: [Conflict]) throws(SyncError) {
    for conflict in conflicts {
      if case .malformed = conflict.remote {
        throw SyncError(
          .invalidConfiguration, during: "logging a conflict over \(conflict.id)",
          "What the remote has is a copy or a tombstone.")
      }
      state.conflicts.add(conflict)
    }
  }

  func removeConflicts(settledBefore instant: Timestamp) {
    state.conflicts.remove(settledBefore: instant)
  }

  func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) {
    state.checkpoints[type] = checkpoint
  }

  func setValue(_ value: [UInt8]?, forKey key: String) {
    state.values[UTF8Key(key)] = value
  }
}
