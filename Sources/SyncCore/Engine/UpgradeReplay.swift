import SyncModels
import SyncPorts

/// Merges withheld records of a newer schema version, once the app supports it.
struct UpgradeReplay {
  let environment: RunEnvironment
  let lease: Lease

  func run(_ entities: [Entity], _ progress: inout SyncProgress) async throws(SyncError) {
    for entity in entities {
      guard try await isDue(entity) else { continue }
      var last: WithheldChange.Key?
      repeat {
        let (start, context) = (last, environment.releaseContext(fence: lease.fence, markPass: nil))
        let (tally, end) = try await environment.store.write(.lease(lease)) {
          (transaction) throws(SyncError) in
          let entries = try transaction.portion(withheld: entity.type, [.incompatible], after: start)
          // Records of the listing that waits for its sweep must not be swept.
          var context = context
          context.markPass = try transaction.checkpoint(for: entity.type)?.markPass
          var merge = PageMerge(entity, context: context)
          try merge.release(entries.filter { $0.isUnderstood(by: entity) }, in: transaction)
          try ArrivedDuplicates.note(merge.tally.changed, of: environment.schema, in: transaction)
          return (merge.tally, entries.last?.key)
        }
        progress.note(tally)
        environment.emitChanges(tally, of: entity.type)
        last = end
      } while last != nil
    }
  }

  private func isDue(_ entity: Entity) async throws(SyncError) -> Bool {
    let environment = environment
    return try await environment.store.read { (snapshot) throws(SyncError) in
      guard try snapshot.withheldCounts(entity.type)[.incompatible, default: 0] > 0 else { return false }
      if entity.visibility == .perPage { return true }
      // A type that is shown only whole is listed anew by the pass that a changed schema version
      // causes. No such pass follows if an older version of the app has withheld a record since, in
      // a store that both share.
      guard let checkpoint = try snapshot.checkpoint(for: entity.type), checkpoint.inFlight == nil else {
        return false
      }
      return checkpoint.scope == environment.scope(of: entity, store: try snapshot.storeIdentity())
    }
  }
}

extension WithheldChange {
  fileprivate func isUnderstood(by entity: Entity) -> Bool {
    guard case .upsert(let record) = change else { return false }
    return record.schemaVersion <= entity.schemaVersion
  }
}
