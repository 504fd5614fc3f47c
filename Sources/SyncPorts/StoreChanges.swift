public import SyncModels

/// Everything that one round of a merge, a sweep or an edit writes.
///
/// The engine decides what is written; ``StoreTransaction/apply(_:)`` writes it, in the order of
/// the members below. A value holds each record at most once among ``put``, ``versions`` and
/// ``deleted``, and each key at most once in every other member. It is never larger than a portion
/// of some thousand records.
public struct StoreChanges: Sendable {
  /// Types whose records lose their marks.
  public var unmarkedTypes: [RecordType] = []
  /// Keys of withheld changes to remove; absent ones are ignored.
  public var released: [WithheldChange.Key] = []
  /// Records whose outbox entries are removed; absent ones are ignored.
  public var dequeued: [RecordID] = []
  /// Copies that become the live ones, whatever was there.
  public var put: [Record] = []
  /// Live records that get another version and entity tag; their payload stays. Records that are
  /// not live are ignored.
  public var versions: [Record] = []
  /// Records to delete. Their versions are kept, also of unknown records, so that nothing older
  /// shows later.
  ///
  /// Where ``queued`` holds the deletion of the same record, the remote has not confirmed it yet:
  /// the store may defer invisible work, such as removing natural keys from an index, to the change
  /// that follows.
  public var deleted: [Tombstone] = []
  /// Changes to withhold; an entry replaces the one with its key.
  public var withheld: [WithheldChange] = []
  /// Records to mark as held by the current complete listing.
  ///
  /// Records without a row in the store are ignored.
  public var marked: [RecordID] = []
  /// Entries for the outbox; an entry replaces the one of its record.
  public var queued: [OutboxEntry] = []
  /// Settled conflicts to log; the store numbers them in this order.
  public var conflicts: [Conflict] = []
  /// The time before which settled conflicts are removed from the log.
  public var forgottenConflicts: Timestamp?
  /// The numbers of conflicts to remove from the log; absent ones are ignored.
  public var removedConflicts: [Int64] = []
  /// Bytes to keep under keys; `nil` removes a key.
  public var values: [KeptValue] = []
  /// Records that observers read again, because of a value that is kept beside them.
  public var annotated: [RecordID] = []

  /// Creates an empty value; set what is to be written.
  public init() {}

  /// Bytes kept under a key.
  public struct KeptValue: Hashable, Sendable {
    /// The key, compared by its UTF-8 bytes.
    public var key: String
    /// The bytes; `nil` removes the key.
    public var bytes: [UInt8]?

    /// Creates a key's new bytes, or the key's removal.
    public init(_ key: String, _ bytes: [UInt8]?) {
      self.key = key
      self.bytes = bytes
    }
  }

  /// Whether nothing is written.
  public var isEmpty: Bool {
    unmarkedTypes.isEmpty && released.isEmpty && dequeued.isEmpty && put.isEmpty && versions.isEmpty
      && deleted.isEmpty && withheld.isEmpty && marked.isEmpty && queued.isEmpty && conflicts.isEmpty
      && forgottenConflicts == nil && removedConflicts.isEmpty && values.isEmpty
      && annotated.isEmpty
  }

  /// The records whose deletion is queued for the remote by this very value.
  public var pendingDeletions: Set<RecordID> {
    if deleted.isEmpty || queued.isEmpty { return [] }
    return Set(queued.lazy.filter { $0.edit.content.payload == nil }.map(\.id))
  }
}
