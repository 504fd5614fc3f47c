import SyncModels
import SyncPorts

/// Looks for circles among copies that were parked by versions without circle detection.
///
/// It runs once in a store's life.
struct CircleReview: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      for entity in session.entities where entity.refersToItself {
        if try Self.isDue(entity.type, in: snapshot) { return true }
      }
      return false
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in session.entities where entity.refersToItself {
      let isDue = try await session.read { (snapshot) throws(SyncError) in
        try Self.isDue(entity.type, in: snapshot)
      }
      guard isDue else { continue }
      let end = try await session.replay(entity, .parked) { (merge, entries, transaction) throws(SyncError) in
        merge.parked = Set(entries.compactMap(\.change.id))
        try merge.releaseParked(waitingFor: [], in: transaction)
        if entries.isEmpty { try transaction.set(.noted, for: Self.key(entity.type)) }
      }
      if end == .stopped { return .stopped }
    }
    return .finished
  }

  private static func isDue(_ type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    // Without parked copies, the note that the review is done is not needed either.
    guard try snapshot.withheldCounts(type)[.parked, default: 0] > 0 else { return false }
    return try snapshot.value(of: key(type)) == nil
  }

  private static func key(_ type: RecordType) -> ValueKey<Noted> { ValueKey(.circles, type.rawValue) }
}
