public import SyncModels

/// A transaction of a store: a snapshot that also sees, and makes, its own writes.
///
/// Every method takes a batch, so that a page costs a handful of calls. Batches hold each id at most once.
public protocol StoreTransaction: StoreSnapshot {
  /// What a merge has to know of some records, each at the place of its copy; `nil` for a record never heard of.
  ///
  /// - Complexity: O(*n* log *m*) for *n* copies against a type of *m* records.
  func states(of copies: [Record]) throws(SyncError) -> [StoredState?]

  /// What a merge has to know of some deletions, each at the place of its tombstone.
  func states(of tombstones: [Tombstone]) throws(SyncError) -> [StoredState?]

  /// Those of some ids that are not live, in their order.
  func absent(among ids: [RecordID]) throws(SyncError) -> [RecordID]

  /// Those of some ids that a live record other than itself refers to by an ordered reference.
  func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID>

  /// Makes each copy the record's live one, whatever was there.
  func put(_ copies: [Record]) throws(SyncError)

  /// Writes the versions and entity tags of live records whose payload is as it was.
  func touch(_ copies: [Record]) throws(SyncError)

  /// Deletes records and keeps their versions, also of those never heard of, so that nothing older shows later.
  func delete(_ tombstones: [Tombstone]) throws(SyncError)

  /// Deletes records whose deletions are queued as edits in this transaction, as ``delete(_:)`` does.
  ///
  /// ``delete(_:)`` or ``put(_:)`` follows when the remote has had its say, so a store may put off until then what costs much and nobody sees, such as taking
  /// natural keys out of an index. By default it does all at once.
  func deletePending(_ tombstones: [Tombstone]) throws(SyncError)

  /// Keeps changes without showing them; an entry replaces the one with its key.
  func withheld(_ entries: [WithheldChange]) throws(SyncError)

  /// Forgets entries; those that are not there are passed over.
  func release(_ keys: [WithheldChange.Key]) throws(SyncError)

  /// The parked entries that wait for one of some records, in the order of their keys.
  func parked(waitingFor ids: [RecordID], limit: Int) throws(SyncError) -> [WithheldChange]

  /// Marks those of some records that the store has a row for, as held by the complete listing under way.
  func mark(_ ids: [RecordID]) throws(SyncError)

  /// Takes the marks off all records of a type.
  func clearMarks(_ type: RecordType) throws(SyncError)

  /// Saves the checkpoint of a type.
  func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError)

  /// Keeps bytes under a name, or forgets them.
  func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError)

  /// Puts edits into the outbox; an entry replaces the one of its record.
  func queue(_ entries: [OutboxEntry]) throws(SyncError)

  /// Takes records' entries out of the outbox; those without one are passed over.
  func dequeue(_ ids: [RecordID]) throws(SyncError)

  /// Adds conflicts to the log and numbers them in their order.
  func log(_ conflicts: [Conflict]) throws(SyncError)

  /// Forgets the conflicts that were settled before an instant.
  func removeConflicts(settledBefore instant: Timestamp) throws(SyncError)
}

extension StoreTransaction {
  /// Deletes them as any others.
  public func deletePending(_ tombstones: [Tombstone]) throws(SyncError) { try delete(tombstones) }
}
