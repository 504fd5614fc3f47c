public import SyncModels

/// One unchanging state of a store, valid during a ``LocalStore/read(_:)``.
///
/// Records are *live* when readers see them: not deleted, and not merely withheld. Reads in portions begin behind the last
/// element of the portion before, and end with an empty portion.
public protocol StoreSnapshot {
  /// The name that the store got when it was created; another store has another.
  func storeIdentity() throws(SyncError) -> String

  /// The declarations of the last registered schemas by type, types declared no more included.
  func registeredEntities() throws(SyncError) -> [Entity]

  // MARK: Records

  /// The live records that a query selects, in its order.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not registered.
  /// - Complexity: O(log *m* + *k*) for *k* selected of *m* records where a declared index fits, otherwise O(*m*).
  func records(_ query: Query) throws(SyncError) -> [Record]

  /// The number of live records that a query selects, ignoring its limit.
  func count(_ query: Query) throws(SyncError) -> Int

  /// The live copies of some records, each at the place of its id; `nil` for what is not live.
  func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?]

  /// The stored state of some records, each at the place of its id; `nil` for an unknown record.
  ///
  /// - Parameter payloads: The payloads that ``StoredState/hasSamePayload`` compares, each at the place of its id; empty to compare
  ///   none. Given payloads mean that some of these records may be written next, in this order.
  /// - Complexity: O(*n* log *m*) for *n* ids among *m* records.
  func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?]

  /// The rows of a type in the order of their keys, live and deleted ones, with their marks.
  ///
  /// - Parameter key: The key behind which to begin.
  /// - Complexity: O(log *m* + *k*) for *k* rows passed over or returned among *m*.
  func rows(
    _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
  ) throws(SyncError) -> [StoredRow]

  /// Those of some records that a live record other than itself refers to by an ordered reference.
  func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID>

  /// Counts of what the store keeps for a type; zeros for a type that is not registered.
  ///
  /// - Parameter rows: Whether to count rows as well.
  /// - Complexity: O(1), with rows at worst O(*m*) for *m* records of the type.
  func counts(_ type: RecordType, rows: Bool) throws(SyncError) -> TypeCounts

  /// The records that changed after a position of the store, for observers.
  ///
  /// A write that changed what readers see has a position of its own. The store keeps the newest positions only, and no ids of a
  /// write that changed many records.
  ///
  /// - Parameter position: A position from an earlier answer; `nil` asks for the current position alone.
  /// - Returns: The ids, or that the observer has to reload everything; with the position to ask from next.
  func changes(after position: StorePosition?) throws(SyncError) -> ChangedRecords

  // MARK: Withheld changes

  /// The withheld changes of a type, of some kinds, in the order of their keys.
  ///
  /// - Parameter after: The key behind which to begin.
  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange]

  /// The withheld changes under some keys, as far as they exist, in no particular order.
  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange]

  /// The withheld changes of some kinds that refer to, or wait for, one of some records, in the order of their keys.
  ///
  /// The references of `staged` copies may be left out; publication checks them.
  ///
  /// - Parameter after: The key behind which to begin.
  /// - Complexity: O(*n* (log *m* + *k*)) for *n* records among *m* entries, of which *k* are related to each.
  func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange]

  // MARK: Local edits

  /// The outbox entries of those of some records that have one, in no particular order.
  func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry]

  /// The outbox entries of a type, in the order of their edits' stamps.
  ///
  /// - Parameter after: The stamp behind which to begin.
  /// - Complexity: O(log *p* + *k*) for *k* of *p* pending.
  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry]

  /// The outbox entries that leave each of some records, at its place and by id; see ``OutboxEntry/leaves``.
  ///
  /// - Parameter limit: The most entries at each place.
  /// - Complexity: O(*n* (log *p* + *k*)) for *n* records, *p* pending and *k* found for each.
  func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]]

  /// The settled conflicts of one type or of all, newest first.
  ///
  /// - Parameter before: The number of the conflict before which to begin.
  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict]

  // MARK: Natural keys

  /// The natural keys that two or more live records share, in the order of their UTF-8 bytes.
  ///
  /// No two groups have one place, and a group keeps its own as long as its records stay.
  ///
  /// - Parameter after: The key behind which to begin.
  /// - Complexity: O(*m*) in the type's records at worst, without reading payloads.
  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup]

  /// The live records that have each of some natural keys, each list at its key's place and by key.
  ///
  /// - Parameters:
  ///   - keys: Keys as ``Entity/naturalKey(of:)`` gives them.
  ///   - places: Hints, empty or one list for each key: the ``DuplicateGroup/places`` of the key's group, in this snapshot or an
  ///     earlier one. The store may look there alone, and leave out records that got the key since.
  func records(
    ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
  ) throws(SyncError) -> [[Record]]

  // MARK: Kept values

  /// The bytes kept under a name, such as a checkpoint or a type's status.
  func value(forKey key: String) throws(SyncError) -> [UInt8]?

  /// The names with a prefix that have bytes, in the order of their UTF-8 bytes.
  ///
  /// - Parameter after: The name behind which to begin.
  /// - Complexity: O(log *v* + *k*) for *k* of *v* names.
  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String]
}
