import SyncModels
import SyncPorts

extension Collapse {
  /// The records of a group to delete: one too few, or the winner as well.
  static func losers(
    _ election: Election, in transaction: any StoreTransaction
  ) throws(SyncError) -> [Candidate] {
    if Mutant.rebuildKeepsALoser.isActive { return election.losers.dropLast() }
    guard Mutant.rebuildDeletesAll.isActive else { return election.losers }
    // The deletion of a referenced winner would break another promise.
    let isKept = try transaction.referenced(among: [election.winner.id]).contains(election.winner.id)
    return isKept ? election.losers : election.losers + [election.winner]
  }
}
