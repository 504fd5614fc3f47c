package import SyncModels
package import SyncPorts

/// A transaction that forwards every call to another one; doubles replace single calls.
package protocol ForwardingTransaction: PageGroupTransaction {
  /// The transaction that does the work.
  var base: any StoreTransaction { get }
}

extension ForwardingTransaction {
  package func apply(_ changes: StoreChanges) throws(SyncError) { try base.apply(changes) }
  package var shouldCommit: Bool { (base as? any PageGroupTransaction)?.shouldCommit ?? false }
  package func readAhead(_ pages: [[RecordChange]]) {
    (base as? any PageGroupTransaction)?.readAhead(pages)
  }

  package func storeIdentity() throws(SyncError) -> String { try base.storeIdentity() }
  package func registeredEntities() throws(SyncError) -> [Entity] { try base.registeredEntities() }

  package func records(_ query: Query) throws(SyncError) -> [Record] { try base.records(query) }
  package func count(_ query: Query) throws(SyncError) -> Int { try base.count(query) }
  package func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?] {
    try base.records(withIDs: ids)
  }
  package func states(
    of ids: [RecordID], comparing payloads: [Payload]
  ) throws(SyncError) -> [StoredState?] {
    try base.states(of: ids, comparing: payloads)
  }
  package func rows(
    _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
  ) throws(SyncError) -> [StoredRow] {
    try base.rows(type, selection, after: key, limit: limit)
  }
  package func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
    try base.referenced(among: ids)
  }
  package func counts(_ type: RecordType, rows: Bool) throws(SyncError) -> TypeCounts {
    try base.counts(type, rows: rows)
  }
  package func changes(after position: StorePosition?) throws(SyncError) -> CommittedChanges {
    try base.changes(after: position)
  }

  package func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    try base.withheld(type, kinds: kinds, after: after, limit: limit)
  }
  package func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
    try base.withheld(for: keys)
  }
  package func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    try base.withheld(relation, ids, kinds: kinds, after: after, limit: limit)
  }

  package func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] { try base.outbox(for: ids) }
  package func outbox(
    _ type: RecordType, after: EditStamp?, limit: Int
  ) throws(SyncError) -> [OutboxEntry] {
    try base.outbox(type, after: after, limit: limit)
  }
  package func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]] {
    try base.outbox(leaving: ids, limit: limit)
  }
  package func conflicts(
    _ type: RecordType?, before: Int64?, limit: Int
  ) throws(SyncError) -> [Conflict] {
    try base.conflicts(type, before: before, limit: limit)
  }

  package func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup] {
    try base.duplicates(type, after: key, limit: limit)
  }
  package func records(
    ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
  ) throws(SyncError) -> [[Record]] {
    try base.records(ofType: type, withNaturalKeys: keys, at: places)
  }

  package func value(forKey key: String) throws(SyncError) -> [UInt8]? { try base.value(forKey: key) }
  package func keys(
    withPrefix prefix: String, after: String?, limit: Int
  ) throws(SyncError) -> [String] {
    try base.keys(withPrefix: prefix, after: after, limit: limit)
  }
}
