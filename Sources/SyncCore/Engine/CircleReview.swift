import SyncModels
import SyncPorts

/// Looks for circles among copies that were parked by versions without circle detection.
///
/// It runs once in a store's life.
struct CircleReview {
  let environment: RunEnvironment
  let lease: Lease

  func run(_ entities: [Entity], _ progress: inout SyncProgress) async throws(SyncError) {
    for entity in entities where entity.refersToItself {
      guard try await isDue(entity.type) else { continue }
      let environment = environment
      let context = environment.releaseContext(fence: lease.fence, markPass: nil)
      var last: WithheldChange.Key?
      repeat {
        let start = last
        let (tally, end) = try await environment.store.write(.lease(lease)) {
          (transaction) throws(SyncError) in
          let entries = try transaction.portion(withheld: entity.type, [.parked], after: start)
          var merge = PageMerge(entity, context: context)
          merge.context.markPass = try transaction.checkpoint(for: entity.type)?.markPass
          merge.parked = Set(entries.compactMap(\.change.id))
          try merge.releaseParked(waitingFor: [], in: transaction)
          try ArrivedDuplicates.note(merge.tally.changed, of: environment.schema, in: transaction)
          if entries.isEmpty { try transaction.setValue([1], forKey: Self.key(entity.type)) }
          return (merge.tally, entries.last?.key)
        }
        progress.note(tally)
        environment.emitChanges(tally, of: entity.type)
        last = end
      } while last != nil
    }
  }

  private func isDue(_ type: RecordType) async throws(SyncError) -> Bool {
    try await environment.store.read { (snapshot) throws(SyncError) in
      // Without parked copies, the note that the review is done is not needed either.
      guard try snapshot.withheldCounts(type)[.parked, default: 0] > 0 else { return false }
      return try snapshot.value(forKey: Self.key(type)) == nil
    }
  }

  private static func key(_ type: RecordType) -> String { "circles/\(type)" }
}
