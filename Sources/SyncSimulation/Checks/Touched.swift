import SyncCore
import SyncModels
import SyncPorts

/// The parts of a store that a transaction was asked to change.
///
/// In a correct store, everything else stays the same.
struct Touched: Sendable {
  /// Records whose live copy or state may have changed.
  var records: Set<RecordID> = []
  /// Types whose marks were cleared.
  var unmarked: Set<RecordType> = []
  /// Withheld changes that were added or removed.
  var withheld: Set<WithheldChange.Key> = []
  /// Records whose pending edit may have changed.
  var outbox: Set<RecordID> = []
  /// Types whose checkpoint was saved.
  var checkpoints: Set<RecordType> = []
  /// Names whose values were stored or removed.
  var values: Set<String> = []
  /// Whether the log of conflicts was written.
  var changesConflicts = false

  /// Creates an empty set of changes.
  init() {}

  /// Adds the effects of a round of changes.
  mutating func note(_ changes: StoreChanges) {
    for ids in [changes.put.map(\.id), changes.versions.map(\.id), changes.deleted.map(\.id), changes.marked]
    {
      records.formUnion(ids)
    }
    unmarked.formUnion(changes.unmarkedTypes)
    withheld.formUnion(changes.withheld.lazy.map(\.key))
    withheld.formUnion(changes.released)
    outbox.formUnion(changes.queued.lazy.map(\.id))
    outbox.formUnion(changes.dequeued)
    for key in changes.values.map(\.key) {
      values.insert(key)
      guard key.hasPrefix(Checkpoint.keyPrefix) else { continue }
      checkpoints.insert(RecordType(String(key.dropFirst(Checkpoint.keyPrefix.count))))
    }
    if !changes.conflicts.isEmpty || changes.forgottenConflicts != nil || !changes.removedConflicts.isEmpty {
      changesConflicts = true
    }
  }

  /// Creates a set of everything in one of two views.
  init(_ before: StoreView, _ after: StoreView) {
    for view in [before, after] {
      records.formUnion(view.live.keys)
      records.formUnion(view.states.keys)
      withheld.formUnion(view.withheld.keys)
      outbox.formUnion(view.outbox.keys)
      checkpoints.formUnion(view.checkpoints.keys)
    }
    changesConflicts = true
  }
}
