import SyncModels
import SyncPorts

/// A transaction that hands everything on, for those that do something else with some of it.
class ForwardingTransaction: StoreTransaction {
  let base: any StoreTransaction

  init(_ base: any StoreTransaction) {
    self.base = base
  }

  // MARK: Writing

  func put(_ copies: [Record]) throws(SyncError) { try base.put(copies) }
  func touch(_ copies: [Record]) throws(SyncError) { try base.touch(copies) }
  func delete(_ tombstones: [Tombstone]) throws(SyncError) { try base.delete(tombstones) }
  func deletePending(_ tombstones: [Tombstone]) throws(SyncError) { try base.deletePending(tombstones) }
  func withheld(_ entries: [WithheldChange]) throws(SyncError) { try base.withheld(entries) }
  func release(_ keys: [WithheldChange.Key]) throws(SyncError) { try base.release(keys) }
  func mark(_ ids: [RecordID]) throws(SyncError) { try base.mark(ids) }
  func clearMarks(_ type: RecordType) throws(SyncError) { try base.clearMarks(type) }
  func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    try base.setCheckpoint(checkpoint, for: type)
  }
  func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError) {
    try base.setValue(value, forKey: key)
  }
  func queue(_ entries: [OutboxEntry]) throws(SyncError) { try base.queue(entries) }
  func dequeue(_ ids: [RecordID]) throws(SyncError) { try base.dequeue(ids) }
  func log(_ conflicts: [Conflict]) throws(SyncError) { try base.log(conflicts) }
  func removeConflicts(settledBefore instant: Timestamp) throws(SyncError) {
    try base.removeConflicts(settledBefore: instant)
  }

  // MARK: Reading

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

  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    try base.withheld(type, kinds: kinds, after: after, limit: limit)
  }
  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
    try base.withheld(for: keys)
  }
  func withheldCounts(_ type: RecordType) throws(SyncError) -> [WithheldChange.Kind: Int] {
    try base.withheldCounts(type)
  }
  func parked(waitingFor ids: [RecordID], limit: Int) throws(SyncError) -> [WithheldChange] {
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
  func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]] {
    try base.outbox(leaving: ids, limit: limit)
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
  func withheld(
    referringTo ids: [RecordID], kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    try base.withheld(referringTo: ids, kinds: kinds, after: after, limit: limit)
  }
}
