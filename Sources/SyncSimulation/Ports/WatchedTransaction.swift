import SyncModels
import SyncPorts

/// A transaction that notes what it is asked to change, and hands everything on.
final class WatchedTransaction: StoreTransaction {
  private let base: any StoreTransaction
  private(set) var touched = Touched()

  init(_ base: any StoreTransaction) {
    self.base = base
  }

  // MARK: Writing

  func put(_ copies: [Record]) throws(SyncError) {
    touched.records.formUnion(copies.lazy.map(\.id))
    try base.put(copies)
  }

  func touch(_ copies: [Record]) throws(SyncError) {
    touched.records.formUnion(copies.lazy.map(\.id))
    try base.touch(copies)
  }

  func delete(_ tombstones: [Tombstone]) throws(SyncError) {
    touched.records.formUnion(tombstones.lazy.map(\.id))
    try base.delete(tombstones)
  }

  func deletePending(_ tombstones: [Tombstone]) throws(SyncError) {
    touched.records.formUnion(tombstones.lazy.map(\.id))
    try base.deletePending(tombstones)
  }

  func setAside(_ entries: [SetAside]) throws(SyncError) {
    touched.shelf.formUnion(entries.lazy.map(\.key))
    try base.setAside(entries)
  }

  func removeSetAside(_ keys: [SetAside.Key]) throws(SyncError) {
    touched.shelf.formUnion(keys)
    try base.removeSetAside(keys)
  }

  func mark(_ ids: [RecordID]) throws(SyncError) {
    touched.records.formUnion(ids)
    try base.mark(ids)
  }

  func clearMarks(_ type: RecordType) throws(SyncError) {
    touched.unmarked.insert(type)
    try base.clearMarks(type)
  }

  func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    touched.checkpoints.insert(type)
    try base.setCheckpoint(checkpoint, for: type)
  }

  func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError) {
    touched.values.insert(key)
    try base.setValue(value, forKey: key)
  }

  func queue(_ entries: [OutboxEntry]) throws(SyncError) {
    touched.outbox.formUnion(entries.lazy.map(\.id))
    try base.queue(entries)
  }

  func dequeue(_ ids: [RecordID]) throws(SyncError) {
    touched.outbox.formUnion(ids)
    try base.dequeue(ids)
  }

  func log(_ conflicts: [Conflict]) throws(SyncError) {
    touched.changesConflicts = true
    try base.log(conflicts)
  }

  func removeConflicts(settledBefore instant: Timestamp) throws(SyncError) {
    touched.changesConflicts = true
    try base.removeConflicts(settledBefore: instant)
  }
}

// MARK: - Reading

extension WatchedTransaction {
  func storeIdentity() throws(SyncError) -> String { try base.storeIdentity() }
  func registeredEntities() throws(SyncError) -> [Entity] { try base.registeredEntities() }
  func records(_ query: Query) throws(SyncError) -> [Record] { try base.records(query) }
  func count(_ query: Query) throws(SyncError) -> Int { try base.count(query) }
  func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?] { try base.records(withIDs: ids) }
  func state(of id: RecordID) throws(SyncError) -> StoredState? { try base.state(of: id) }
  func states(of copies: [Record]) throws(SyncError) -> [StoredState?] { try base.states(of: copies) }
  func states(of tombstones: [Tombstone]) throws(SyncError) -> [StoredState?] {
    try base.states(of: tombstones)
  }
  func checkpoint(for type: RecordType) throws(SyncError) -> Checkpoint? { try base.checkpoint(for: type) }

  func setAside(
    _ type: RecordType, kinds: Set<SetAside.Kind>, after: SetAside.Key?, limit: Int
  ) throws(SyncError) -> [SetAside] {
    try base.setAside(type, kinds: kinds, after: after, limit: limit)
  }
  func setAside(for keys: [SetAside.Key]) throws(SyncError) -> [SetAside] { try base.setAside(for: keys) }
  func setAsideCounts(_ type: RecordType) throws(SyncError) -> [SetAside.Kind: Int] {
    try base.setAsideCounts(type)
  }
  func parked(waitingFor ids: [RecordID], limit: Int) throws(SyncError) -> [SetAside] {
    try base.parked(waitingFor: ids, limit: limit)
  }

  func value(forKey key: String) throws(SyncError) -> [UInt8]? { try base.value(forKey: key) }
  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
    try base.keys(withPrefix: prefix, after: after, limit: limit)
  }

  func unmarkedCount(_ type: RecordType) throws(SyncError) -> (unmarked: Int, live: Int) {
    try base.unmarkedCount(type)
  }
  func unmarked(_ type: RecordType, afterKey: String?, limit: Int) throws(SyncError) -> [Tombstone] {
    try base.unmarked(type, afterKey: afterKey, limit: limit)
  }
  func absent(among ids: [RecordID]) throws(SyncError) -> [RecordID] { try base.absent(among: ids) }
  func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
    try base.referenced(among: ids)
  }

  func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] { try base.outbox(for: ids) }
  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry] {
    try base.outbox(type, after: after, limit: limit)
  }
  func outboxCount(_ type: RecordType) throws(SyncError) -> Int { try base.outboxCount(type) }
  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict] {
    try base.conflicts(type, before: before, limit: limit)
  }

  func records(ofType type: RecordType, withNaturalKeys keys: [String]) throws(SyncError) -> [[Record]] {
    try base.records(ofType: type, withNaturalKeys: keys)
  }
  func records(ofType type: RecordType, in groups: [DuplicateGroup]) throws(SyncError) -> [[Record]] {
    try base.records(ofType: type, in: groups)
  }
  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup] {
    try base.duplicates(type, after: key, limit: limit)
  }
}
