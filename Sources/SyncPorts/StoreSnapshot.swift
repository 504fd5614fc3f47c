public import SyncModels

/// One unchanging state of a store, valid during a ``LocalStore/read(_:)``.
///
/// Records are *live* when readers see them: not deleted, and not merely withheld. Reads in
/// portions begin after the last element of the previous portion, and end with an empty portion.
public protocol StoreSnapshot {
  /// The name that the store was given at its creation, different for each store.
  func storeIdentity() throws(SyncError) -> String

  /// The declarations of the last registered schemas by type, including types no longer declared.
  func registeredEntities() throws(SyncError) -> [Entity]

  // MARK: Records

  /// The live records that a query selects, in its order.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not registered.
  /// - Complexity: O(log *m* + *k*) for *k* selected of *m* records where a declared index fits,
  ///   otherwise O(*m*).
  func records(_ query: Query) throws(SyncError) -> [Record]

  /// The number of live records that a query selects, ignoring its limit.
  func count(_ query: Query) throws(SyncError) -> Int

  /// The live copies of some records, in the order of the ids; `nil` for others.
  func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?]

  /// The stored states of some records; `nil` for unknown records.
  ///
  /// The states are in the order of the ids.
  ///
  /// - Parameters:
  ///   - ids: The records.
  ///   - payloads: The payloads that ``StoredState/hasSamePayload`` compares, in the order of the
  ///     ids; empty to compare none. Given payloads mean that some of these records may be written
  ///     next, in this order.
  /// - Complexity: O(*n* log *m*) for *n* ids among *m* records.
  func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?]

  /// A type's rows, live and deleted ones, with their marks, sorted by key.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - selection: Which of the rows.
  ///   - key: The key after which to begin.
  ///   - limit: The most rows to return.
  /// - Complexity: O(log *m* + *k*) for *k* rows skipped or returned among *m*.
  func rows(
    _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
  ) throws(SyncError) -> [StoredRow]

  /// Those of some records to which another live record refers by an ordered reference.
  ///
  /// - Complexity: O(*n* *f* log *m*) for *n* ids, *f* fields that may refer to them, *m* records.
  func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID>

  /// The counts of what the store keeps for a type; zeros if it is unregistered.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - rows: Whether to count rows as well.
  /// - Complexity: O(1), with rows at worst O(*m*) for *m* records of the type.
  func counts(_ type: RecordType, rows: Bool) throws(SyncError) -> TypeCounts

  /// The records that changed after a position of the store, for observers.
  ///
  /// A write that puts, annotates or deletes live records has a position of its own. One that deletes
  /// records that were not live may have one too, so that the store need not look them up. Other
  /// writes have none, also of versions alone. The store keeps the newest positions only, and no
  /// ids of a write that changed many records.
  ///
  /// - Parameter position: A position from an earlier result; `nil` returns the current position
  ///   alone.
  /// - Returns: The ids, or that the observer has to reload everything; with the position for the
  ///   next call.
  func changes(after position: StorePosition?) throws(SyncError) -> CommittedChanges

  // MARK: Withheld changes

  /// The withheld changes of a type, of some kinds, in the order of their keys.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - kinds: The kinds.
  ///   - after: The key after which to begin.
  ///   - limit: The most changes to return.
  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange]

  /// The withheld changes under some keys, as far as they exist, in no particular order.
  ///
  /// - Complexity: O(*n* log *m*) for *n* keys among *m* entries.
  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange]

  /// The withheld changes that refer to, or wait for, one of some records.
  ///
  /// They are of some kinds, in the order of their keys. The references of `staged` copies may be
  /// left out; publication checks them.
  ///
  /// - Parameters:
  ///   - relation: Whether they refer to the records, or wait for them.
  ///   - ids: The records.
  ///   - kinds: The kinds.
  ///   - after: The key after which to begin.
  ///   - limit: The most changes to return.
  /// - Complexity: O(*n* (log *m* + *k*)) for *n* records among *m* entries, of which *k* are
  ///   related to each.
  func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange]

  // MARK: Local edits

  /// The existing outbox entries of some records, in no particular order.
  ///
  /// - Complexity: O(*n* log *p*) for *n* ids among *p* pending.
  func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry]

  /// The outbox entries of a type, in the order of their edits' stamps.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - after: The stamp after which to begin.
  ///   - limit: The most entries to return.
  /// - Complexity: O(log *p* + *k*) for *k* of *p* pending.
  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry]

  /// The outbox entries that leave each of some records, sorted by id.
  ///
  /// The lists are in the order of the given ids. See ``OutboxEntry/leaves``.
  ///
  /// - Parameters:
  ///   - ids: The records.
  ///   - limit: The most entries for each record.
  /// - Complexity: O(*n* (log *p* + *k*)) for *n* records, *p* pending and *k* found for each.
  func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]]

  /// The resolved conflicts of one type or of all, newest first.
  ///
  /// - Parameters:
  ///   - type: The type; `nil` for all.
  ///   - before: The number of the conflict before which to begin.
  ///   - limit: The most conflicts to return.
  /// - Complexity: O(log *c* + *k*) for *k* of *c* conflicts.
  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict]

  // MARK: Natural keys

  /// The natural keys that two or more live records share, by UTF-8 order.
  ///
  /// No two groups have the same place, and a group keeps its place as long as its records stay.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The key after which to begin.
  ///   - limit: The most keys to return.
  /// - Complexity: O(*m*) in the type's records at worst, without reading payloads.
  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup]

  /// The live records that have each of some natural keys, sorted by key.
  ///
  /// The lists are in the order of the given keys.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - keys: Keys as ``Entity/naturalKey(of:)`` gives them.
  ///   - places: Hints, empty or one list for each key: the ``DuplicateGroup/places`` of the key's
  ///     group, in this snapshot or an earlier one. The store may look there alone, and leave out
  ///     records that got the key since.
  func records(
    ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
  ) throws(SyncError) -> [[Record]]

  // MARK: Kept values

  /// The bytes kept under a key, such as a checkpoint or a type's status.
  func value(forKey key: String) throws(SyncError) -> [UInt8]?

  /// The keys with a prefix that have bytes, in the order of their UTF-8 bytes.
  ///
  /// - Parameters:
  ///   - prefix: The prefix.
  ///   - after: The key after which to begin.
  ///   - limit: The most keys to return.
  /// - Complexity: O(log *v* + *k*) for *k* of *v* keys.
  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String]
}
