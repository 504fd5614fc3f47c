package import SyncModels

// Reads that follow from a requirement.
extension StoreSnapshot {
  /// The stored state of one record; `nil` for an unknown record.
  package func state(of id: RecordID) throws(SyncError) -> StoredState? {
    try states(of: [id], comparing: []).first ?? nil
  }

  /// The stored states of the records of some copies, compared with their payloads.
  package func states(of copies: [Record]) throws(SyncError) -> [StoredState?] {
    try states(of: copies.map(\.id), comparing: copies.map(\.payload))
  }

  /// The stored states of deleted records.
  package func states(of tombstones: [Tombstone]) throws(SyncError) -> [StoredState?] {
    try states(of: tombstones.map(\.id), comparing: [])
  }

  /// Those of some records that are not live, in their order.
  package func absent(among ids: [RecordID]) throws(SyncError) -> [RecordID] {
    if ids.isEmpty { return [] }
    return zip(ids, try states(of: ids, comparing: [])).filter { $1?.isDeleted ?? true }.map(\.0)
  }

  /// The parked changes that wait for one of some records, sorted by key.
  package func parked(waitingFor ids: [RecordID], limit: Int) throws(SyncError) -> [WithheldChange] {
    try withheld(.waitingFor, ids, kinds: [.parked], after: nil, limit: limit)
  }

  /// The number of withheld changes of a type by kind.
  package func withheldCounts(_ type: RecordType) throws(SyncError) -> [WithheldChange.Kind: Int] {
    try counts(type, rows: false).withheld
  }

  /// The number of outbox entries of a type.
  package func outboxCount(_ type: RecordType) throws(SyncError) -> Int {
    try counts(type, rows: false).pending
  }

  /// The live records that have each of some natural keys, by key.
  package func records(
    ofType type: RecordType, withNaturalKeys keys: [String]
  ) throws(SyncError) -> [[Record]] {
    try records(ofType: type, withNaturalKeys: keys, at: [])
  }

  /// The live records of some groups that still have the group's natural key.
  package func records(
    ofType type: RecordType, in groups: [DuplicateGroup]
  ) throws(SyncError) -> [[Record]] {
    try records(ofType: type, withNaturalKeys: groups.map(\.key), at: groups.map(\.places))
  }
}
