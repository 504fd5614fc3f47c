import SyncModels
import SyncPorts

/// Applies records that had a newer schema than the app understood, once it understands them.
struct UpgradeReplay {
  let environment: RunEnvironment
  let lease: Lease

  func run(_ entities: [Entity], _ progress: inout SyncProgress) async throws(SyncError) {
    // What is shown only whole is listed anew by the pass that a changed schema calls for.
    for entity in entities where entity.visibility == .perPage {
      let kept = try await environment.store.read { (snapshot) throws(SyncError) in
        try snapshot.setAsideCounts(entity.type)[.incompatible, default: 0]
      }
      var last: SetAside.Key?
      while kept > 0 {
        let (start, context) = (last, context)
        let (tally, end) = try await environment.store.write(.lease(lease)) {
          (transaction) throws(SyncError) in
          let entries = try transaction.setAside(
            entity.type, kinds: [.incompatible], after: start, limit: MergeContext.portion)
          var merge = PageMerge(entity, context: context)
          try merge.release(entries.filter { $0.isUnderstood(by: entity) }, in: transaction)
          try ArrivedDuplicates.note(merge.tally.changed, of: environment.graph, in: transaction)
          return (merge.tally, entries.last?.key)
        }
        progress.note(tally)
        environment.emitChanges(tally, of: entity.type)
        guard let end else { break }
        last = end
      }
    }
  }

  private var context: MergeContext {
    MergeContext(
      graph: environment.graph, edits: environment.edits, fence: lease.fence,
      now: environment.clock.timestamp,
      source: environment.source.capabilities,
      pass: Checkpoint.Pass(number: 0, base: nil, coverage: .changes),
      markPass: nil, stages: false)
  }
}

extension SetAside {
  fileprivate func isUnderstood(by entity: Entity) -> Bool {
    guard case .upsert(let record) = change else { return false }
    return record.schemaVersion <= entity.schemaVersion
  }
}
