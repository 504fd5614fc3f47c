import SyncModels
import SyncPorts

extension PageTransaction {
  /// Writes pages and their checkpoint in separate transactions.
  ///
  /// - Returns: `nil` if the pages are still to be written as usual.
  static func runMutated(
    _ transactions: [PageTransaction], on type: RecordType, under lease: LeaseKeeper
  ) async throws(SyncError) -> [Tally]? {
    guard let last = transactions.last?.commit.checkpoint else { return nil }
    if Mutant.watermarkFirst.isActive {
      try await lease.write { (open) throws(SyncError) in
        try open.setCheckpoint(last, for: type)
      }
    }
    guard Mutant.watermarkApart.isActive else { return nil }
    let tallies = try await lease.write { (open) throws(SyncError) in
      let before = try open.checkpoint(for: type)
      let tallies = try transactions.map { (transaction) throws(SyncError) in try transaction.run(in: open) }
      if let before { try open.setCheckpoint(before, for: type) }
      return tallies
    }
    try await lease.write { (open) throws(SyncError) in
      try open.setCheckpoint(last, for: type)
    }
    return tallies
  }
}
