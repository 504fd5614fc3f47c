import SyncModels
import SyncPorts

/// Carries out held deletions whose records are no longer referred to.
struct HeldDeletions: Sendable {
  var entity: Entity
  var context: MergeContext

  /// The result of a portion.
  struct Portion: Sendable {
    var tally: Tally
    /// The deletions that were carried out. Each may have freed further ones.
    var released: [RecordID]
    /// The key after which the next portion begins; `nil` after the last.
    var next: WithheldChange.Key?
  }

  /// Carries out the free deletions of one portion.
  func portion(
    after key: WithheldChange.Key?, in transaction: any StoreTransaction
  ) throws(SyncError) -> Portion {
    let entries = try transaction.portion(withheld: entity.type, [.held], after: key)
    let referenced = try transaction.referenced(
      among: entries.compactMap(\.change.id), by: context.schema)
    let free = entries.filter { entry in entry.change.id.map { !referenced.contains($0) } ?? false }
    var merge = PageMerge(entity, context: context.forRelease(markPass: nil))
    if !free.isEmpty { try merge.release(free, in: transaction) }
    return Portion(
      tally: merge.tally, released: merge.tally.changed.isEmpty ? [] : free.compactMap(\.change.id),
      next: entries.last?.key)
  }
}
