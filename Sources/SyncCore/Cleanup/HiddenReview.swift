import SyncModels
import SyncPorts

/// Shows records again that no rule of the policy hides any more.
///
/// It works in portions under the lease. Records that were hidden under a clock that was ahead, or
/// by a rule that was removed, are shown again in this way.
struct HiddenReview {
  let environment: RunEnvironment
  let policy: CleanupPolicy
  let stop: StopSignal

  func perform(_ lease: LeaseKeeper, _ report: inout CleanupReport) async throws(SyncError) {
    let environment = environment
    let counts = try await environment.store.read { (snapshot) throws(SyncError) in
      try environment.hiddenCounts(in: snapshot)
    }
    for entity in environment.schema.entities where counts[entity.type] != nil {
      let end = try await stop.walk { (last) throws(SyncError) in
        let (portion, shown) = try await review(entity, after: last, lease)
        environment.emitChanges(portion.tally, of: entity.type)
        report.shown.merge(shown, uniquingKeysWith: +)
        return portion.end
      }
      if end == .stopped { return report.wasCancelled = true }
    }
  }

  /// Reviews one portion, and counts the records that are no longer hidden, by type.
  private func review(
    _ entity: Entity, after key: WithheldChange.Key?, _ lease: LeaseKeeper
  ) async throws(SyncError) -> (Portion<WithheldChange.Key>, shown: [RecordType: Int]) {
    let (environment, limit) = (environment, policy.recordsAtOnce)
    let rules = policy.rules.filter { $0.type == entity.type }
    let now = environment.clock.timestamp
    let fence = lease.fence
    return try await lease.write { (transaction) throws(SyncError) in
      let entries = try transaction.portion(
        withheld: entity.type, [.hidden], after: key, limit: limit)
      var portion = Portion(end: entries.count == limit ? entries.last?.key : nil)
      let unhidden = entries.filter { entry in
        guard case .upsert(let record) = entry.change else { return false }
        return !rules.contains { $0.hides(record, of: entity, at: now) }
      }
      guard !unhidden.isEmpty else { return (portion, [:]) }
      let before = try environment.hiddenCounts(in: transaction)
      let markPass = try transaction.checkpoint(for: entity.type)?.markPass
      var merge = PageMerge(
        entity, context: environment.releaseContext(fence: fence, markPass: markPass))
      try merge.release(unhidden, in: transaction)
      try ArrivedDuplicates.remember(merge.tally.changed, of: environment.schema, in: transaction)
      portion.tally = merge.tally
      // A record that is shown again brings along the hidden records that it refers to.
      let after = try environment.hiddenCounts(in: transaction)
      var shown: [RecordType: Int] = [:]
      for (type, count) in before where count > after[type, default: 0] {
        shown[type] = count - after[type, default: 0]
      }
      return (portion, shown)
    }
  }
}

extension RunEnvironment {
  /// Returns the numbers of hidden records, for types that have any.
  fileprivate func hiddenCounts(in snapshot: any StoreSnapshot) throws(SyncError) -> [RecordType: Int] {
    var counts: [RecordType: Int] = [:]
    for entity in schema.entities { counts[entity.type] = try snapshot.withheldCounts(entity.type)[.hidden] }
    return counts
  }
}
