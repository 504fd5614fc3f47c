public import SyncModels

/// A transaction of a store: a snapshot that also makes writes and sees them.
///
/// For implementers: ``apply(_:)`` does not mutate the transaction as a value, because the engine
/// passes it on to the parts that read and write in one round. Over a database, a structure with a
/// connection will do. A transaction that collects its changes in memory is a class, or refers to
/// one.
public protocol StoreTransaction: StoreSnapshot {
  /// Writes one round of changes; later reads of the transaction see them.
  ///
  /// A transaction may apply several rounds. When this throws, the body has to throw as well, and
  /// nothing is written.
  ///
  /// - Throws: `invalidConfiguration` for a copy, a deletion or cleared marks of a type that is not
  ///   registered, or a conflict whose remote side is malformed.
  /// - Complexity: O(*n* log *m*) for *n* changes in a store of *m* records.
  func apply(_ changes: StoreChanges) throws(SyncError)
}

// Rounds with one kind of change.
extension StoreTransaction {
  /// Applies changes that a closure sets.
  package func apply(_ set: (inout StoreChanges) -> Void) throws(SyncError) {
    var changes = StoreChanges()
    set(&changes)
    try apply(changes)
  }

  /// Makes each copy the record's live one, whatever was there.
  package func put(_ copies: [Record]) throws(SyncError) { try apply { $0.put = copies } }

  /// Writes the versions and entity tags of live records whose payload stays.
  package func updateVersions(_ copies: [Record]) throws(SyncError) { try apply { $0.versions = copies } }

  /// Deletes records and keeps their versions.
  package func delete(_ tombstones: [Tombstone]) throws(SyncError) { try apply { $0.deleted = tombstones } }

  /// Withholds changes.
  package func withhold(_ entries: [WithheldChange]) throws(SyncError) { try apply { $0.withheld = entries } }

  /// Removes withheld changes.
  package func release(_ keys: [WithheldChange.Key]) throws(SyncError) { try apply { $0.released = keys } }

  /// Marks records as held by the current complete listing.
  package func mark(_ ids: [RecordID]) throws(SyncError) { try apply { $0.marked = ids } }

  /// Removes the marks of all records of a type.
  package func clearMarks(_ type: RecordType) throws(SyncError) { try apply { $0.unmarkedTypes = [type] } }

  /// Keeps bytes under a key; `nil` removes the key.
  package func setValue(_ bytes: [UInt8]?, forKey key: String) throws(SyncError) {
    try apply { $0.values = [.init(key, bytes)] }
  }

  /// Puts edits into the outbox.
  package func queue(_ entries: [OutboxEntry]) throws(SyncError) { try apply { $0.queued = entries } }

  /// Removes records' entries from the outbox.
  package func dequeue(_ ids: [RecordID]) throws(SyncError) { try apply { $0.dequeued = ids } }

  /// Adds conflicts to the log.
  package func log(_ conflicts: [Conflict]) throws(SyncError) { try apply { $0.conflicts = conflicts } }

  /// Removes the conflicts that were settled before a time from the log.
  package func removeConflicts(settledBefore time: Timestamp) throws(SyncError) {
    try apply { $0.forgottenConflicts = time }
  }

  /// Removes conflicts from the log by their numbers.
  package func removeConflicts(_ numbers: [Int64]) throws(SyncError) {
    try apply { $0.removedConflicts = numbers }
  }
}
