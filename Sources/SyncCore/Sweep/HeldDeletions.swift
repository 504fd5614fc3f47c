import SyncModels
import SyncPorts

/// Carries out held deletions whose records are no longer referred to.
struct HeldDeletions: Sendable {
  var entity: Entity
  var context: MergeContext

  /// Carries out the free deletions of one portion. Each may free further ones.
  func portion(
    after key: WithheldChange.Key?, in transaction: any StoreTransaction
  ) throws(SyncError) -> Portion<WithheldChange.Key> {
    let entries = try transaction.portion(withheld: entity.type, [.held], after: key)
    let referenced = try transaction.referenced(
      among: entries.compactMap(\.change.id), by: context.schema)
    let free = entries.filter { entry in entry.change.id.map { !referenced.contains($0) } ?? false }
    var merge = PageMerge(entity, context: context.forRelease(markPass: nil))
    if !free.isEmpty { try merge.release(free, in: transaction) }
    return Portion(
      tally: merge.tally, ids: merge.tally.changed.isEmpty ? [] : free.compactMap(\.change.id),
      end: entries.last?.key)
  }
}
