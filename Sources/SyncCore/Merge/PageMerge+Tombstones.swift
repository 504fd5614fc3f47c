import SyncModels
import SyncPorts

extension PageMerge {
  /// Merges the tombstones of a round: what nothing refers to goes, the rest is held until nothing does.
  mutating func mergeTombstones(
    _ batch: inout Batch, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !batch.tombstones.isEmpty else { return }
    let states = try transaction.states(of: batch.tombstones.map(\.tombstone))
    let referenced = try referenced(among: batch.tombstones.map(\.tombstone.id), in: transaction)
    var deletions: [Tombstone] = []
    for (index, (tombstone, origin)) in batch.tombstones.enumerated() {
      let fate = rule.fate(of: tombstone, over: states[index])
      if fate == .deleted, referenced.contains(tombstone.id) {
        batch.withheld.append(context.held(tombstone, origin: origin))
        note(.deferred, of: tombstone.id, origin: origin)
        continue
      }
      // One of a record never heard of is written as well: an older copy may still come.
      if fate != .skippedOlder { deletions.append(tombstone) }
      #if MUTANTS
        if Mutant.tombstoneForgotten.isActive, fate == .unchanged { _ = deletions.popLast() }
      #endif
      note(fate, of: tombstone.id, origin: origin)
    }
    if !deletions.isEmpty { try transaction.delete(deletions) }
  }

  func referenced(
    among ids: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    #if MUTANTS
      if Mutant.parentDeletedFirst.isActive { return [] }
    #endif
    guard !context.schema.referrers(to: entity.type).isEmpty else { return [] }
    return try transaction.referenced(
      among: ids.filter { !context.together.contains($0) }, by: context.schema)
  }
}
