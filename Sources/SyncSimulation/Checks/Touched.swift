import SyncModels

/// What a transaction was asked to change: all that can be otherwise after it, in a store that does what it is told.
struct Touched: Sendable {
  /// Records whose live copy or state may have changed.
  var records: Set<RecordID> = []
  /// Types whose marks were taken off.
  var unmarked: Set<RecordType> = []
  /// Entries that were set aside or forgotten.
  var shelf: Set<WithheldChange.Key> = []
  /// Records whose pending edit may have changed.
  var outbox: Set<RecordID> = []
  /// Types whose checkpoint was saved.
  var checkpoints: Set<RecordType> = []
  /// Names under which bytes were kept or forgotten.
  var values: Set<String> = []
  /// Whether the log of conflicts was written to.
  var changesConflicts = false

  /// Nothing yet.
  init() {}

  /// All that is in one of two views.
  init(_ before: StoreView, _ after: StoreView) {
    for view in [before, after] {
      records.formUnion(view.live.keys)
      records.formUnion(view.states.keys)
      shelf.formUnion(view.shelf.keys)
      outbox.formUnion(view.outbox.keys)
      checkpoints.formUnion(view.checkpoints.keys)
    }
    changesConflicts = true
  }
}
