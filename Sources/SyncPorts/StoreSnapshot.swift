public import SyncModels

/// One unchanging state of a store, for as long as a ``LocalStore/read(_:)`` lasts.
///
/// Records are *live* when readers see them: not deleted, and not merely set aside.
public protocol StoreSnapshot {
  /// The name that the store got when it was created; another store has another.
  func storeIdentity() throws(SyncError) -> String

  /// The declarations of the last registered schemas, those of types that are no longer declared included, by type.
  func registeredEntities() throws(SyncError) -> [Entity]

  /// The live records that a query selects, in its order.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not registered.
  /// - Complexity: O(log *m* + *k*) for *k* selected of *m* records where a declared index fits, otherwise O(*m*).
  func records(_ query: Query) throws(SyncError) -> [Record]

  /// How many live records a query selects, its limit set aside.
  func count(_ query: Query) throws(SyncError) -> Int

  /// The live copies of some records, each at the place of its id; `nil` for what is not live.
  func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?]

  /// The version of a record's last copy or deletion that came from the remote; `nil` for one never heard of.
  func state(of id: RecordID) throws(SyncError) -> StoredState?

  /// The checkpoint of a type.
  func checkpoint(for type: RecordType) throws(SyncError) -> Checkpoint?

  /// The entries set aside for a type, of some kinds, by key: entries of records by their ids, then those of bytes by digest.
  ///
  /// - Parameter after: The key of the entry after which to begin, to read them in portions.
  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange]

  /// The entries filed under some keys, where there are any, in no particular order.
  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange]

  /// The entries, of some kinds, whose copies refer to one of some records, each once and by key over all types.
  ///
  /// References count as the registered declarations have them, ordered or not, whether the entry waits for the record or not. A copy's reference to
  /// itself does not count. `staged` entries may be left out: their references are checked when the type is published.
  ///
  /// - Parameter after: The key of the entry after which to begin, to read them in portions.
  /// - Complexity: O(*n* (log *m* + *k*)) for *n* records among *m* entries, of which *k* refer to each.
  func withheld(
    referringTo ids: [RecordID], kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange]

  /// How many entries of each kind are set aside for a type.
  ///
  /// - Complexity: Must not grow with the number of records.
  func withheldCounts(_ type: RecordType) throws(SyncError) -> [WithheldChange.Kind: Int]

  /// The bytes kept under a name, such as a type's ``TypeStatus``.
  func value(forKey key: String) throws(SyncError) -> [UInt8]?

  /// The names that begin with a prefix and have bytes kept under them, in the order of their UTF-8 bytes.
  ///
  /// - Parameter after: The name after which to begin, to read them in portions.
  /// - Complexity: O(log *v* + *k*) for *k* of *v* names.
  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String]

  /// The marked state of a type's rows: how many live rows carry no mark, and how many there are.
  func unmarkedCount(_ type: RecordType) throws(SyncError) -> (unmarked: Int, live: Int)

  /// The live records without a mark, by key, for a sweep.
  func unmarked(_ type: RecordType, afterKey: String?, limit: Int) throws(SyncError) -> [Tombstone]

  // MARK: Local edits

  /// The outbox entries of those of some records that have one, in no particular order.
  func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry]

  /// A type's outbox entries, in the order of their edits' stamps.
  ///
  /// - Parameter after: The stamp of the edit after which to begin, to read them in portions.
  /// - Complexity: O(log *p* + *k*) for *k* of *p* pending.
  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry]

  /// The outbox entries that leave each of some records, at the record's place and by id; see ``OutboxEntry/leaves``.
  ///
  /// - Parameter limit: The most entries at each place.
  /// - Complexity: O(*n* (log *p* + *k*)) for *n* records, *p* pending and *k* found for each.
  func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]]

  /// How many outbox entries a type has.
  ///
  /// - Complexity: Must not grow with the number of records, nor, for a type without any, with anything.
  func outboxCount(_ type: RecordType) throws(SyncError) -> Int

  /// The settled conflicts, of one type or of all, the newest first.
  ///
  /// - Parameter before: The number of the conflict before which to begin, to read them in portions.
  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict]

  // MARK: Natural keys

  /// The live records that have one of some natural keys, each list at its key's place and by key.
  ///
  /// - Parameter keys: Keys as ``Entity/naturalKey(of:)`` gives them.
  func records(ofType type: RecordType, withNaturalKeys keys: [String]) throws(SyncError) -> [[Record]]

  /// Those of the records of some groups that are live and have the group's natural key now, each list at its group's place and by key.
  ///
  /// A store that finds records by their ``DuplicateGroup/places`` may leave out those that have come to have the key since the groups were listed.
  ///
  /// - Parameter groups: As ``duplicates(_:after:limit:)`` gives them, of this snapshot or an earlier one.
  func records(ofType type: RecordType, in groups: [DuplicateGroup]) throws(SyncError) -> [[Record]]

  /// The natural keys that two or more live records have, in the order of the keys' UTF-8 bytes.
  ///
  /// No two groups have one place, and a group keeps its own as long as its records stay.
  ///
  /// - Parameter after: The key after which to begin, to read them in portions.
  /// - Complexity: O(*m*) in the type's records at worst, without reading payloads.
  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup]
}
