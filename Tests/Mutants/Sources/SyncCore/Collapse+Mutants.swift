import SyncModels
import SyncPorts

extension Collapse {
  /// The records to delete: one too few, or the winners as well.
  static func losers(
    _ plan: CollapsePlan, in transaction: any StoreTransaction
  ) throws(SyncError) -> [Candidate] {
    let losers = plan.elections.flatMap(\.losers)
    if Mutant.rebuildKeepsALoser.isActive { return losers.dropLast() }
    guard Mutant.rebuildDeletesAll.isActive else { return losers }
    // The deletion of a referenced winner would break another promise.
    let winners = plan.elections.map(\.winner)
    let kept = try transaction.referenced(among: winners.map(\.id))
    return losers + winners.filter { !kept.contains($0.id) }
  }
}
