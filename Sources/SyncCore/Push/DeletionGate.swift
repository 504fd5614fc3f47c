import SyncModels
import SyncPorts

/// What keeps a deletion from being sent for now.
enum DeletionObstacle: Hashable, Sendable {
  /// No pull has been completed since the rebuild that deletes it; the winner may have gone from the remote.
  case pull
  /// The record that it lost to has gone, or is not at the remote as it is here.
  case winner(RecordID?)
  /// A copy that is set aside refers to it.
  case withheld
  /// The remote's copies of these refer to it, until their own edits are accepted.
  case referrers([RecordID])

  /// The records that have to change first.
  var records: [RecordID] {
    switch self {
    case .referrers(let ids): ids
    case .winner(let id): id.map { [$0] } ?? []
    case .pull, .withheld: []
    }
  }

  /// Why it waits, for a person.
  var reason: String {
    switch self {
    case .pull: "waits until a pull shows that the record it lost to is still at the remote"
    case .winner(nil): "waits for the next sync, as the record it lost to has gone"
    case .winner(let id?): "waits until \(id), which it lost to, is at the remote as it is here"
    case .withheld: "waits until nothing that is set aside refers to it"
    case .referrers(let ids):
      "waits until the remote has accepted the edits of \(ids.prefix(3).map(\.description).joined(separator: ", ")), which refer to it there"
    }
  }
}

/// Finds out which deletions of a type may be sent: those that leave nothing dangling at the remote, and no group of duplicates without its winner.
struct DeletionGate {
  let entity: Entity
  let schema: SyncSchema

  /// What keeps those of some deletions back that rebuilds have made.
  func obstacles(
    of entries: [OutboxEntry], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: DeletionObstacle] {
    // What was sent before is sent again as it was.
    let losers = entries.filter { $0.loser != nil && $0.sent == nil }
    guard !losers.isEmpty else { return [:] }
    let groups = try LoserGroups(of: losers, entity, in: snapshot)
    let checkpoint = try snapshot.checkpoint(for: entity.type)
    let withheld = try WithheldReferrers(to: entity.type, in: schema).targets(
      among: losers.map(\.id), kinds: [.parked, .hidden, .incompatible], in: snapshot)
    let standing = try standing(
      among: losers.flatMap { groups.records(of: $0.id) ?? [] }, checkpoint, in: snapshot)
    var obstacles: [RecordID: DeletionObstacle] = [:]
    for loser in losers {
      if withheld.contains(loser.id) { obstacles[loser.id] = .withheld }
      guard let rebuilt = loser.loser, let records = groups.records(of: loser.id) else { continue }
      let isConfirmed = checkpoint.map { $0.hasSeen(since: rebuilt.pass) } ?? false
      if !records.contains(where: { standing.contains($0.id) }) {
        obstacles[loser.id] = .winner(records.first?.id)
      } else if !isConfirmed {
        obstacles[loser.id] = .pull
      }
    }
    return obstacles
  }

  /// The edits by whose acceptance the remote's last references to each of some records go.
  ///
  /// - Parameter limit: The most for each.
  func referrers(
    to entries: [OutboxEntry], limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [[OutboxEntry]] {
    guard schema.entities.contains(where: { $0.references.contains { $0.target == entity.type } }) else {
      return entries.map { _ in [] }
    }
    let places = Dictionary(
      schema.entities.enumerated().map { ($1.type, $0) }, uniquingKeysWith: { first, _ in first })
    let own = places[entity.type] ?? 0
    return try snapshot.outbox(leaving: entries.map(\.id), limit: limit).map { referrers in
      // Where there may be more, nothing is known of those.
      if referrers.count >= limit { return referrers }
      #if MUTANTS
        if Mutant.deletionsWaitInACircle.isActive { return referrers }
      #endif
      // A record of a type whose deletions come later refers to this one by a reference that is not ordered, and goes as well. Two that
      // refer to each other in this way would wait for each other for ever.
      return referrers.filter { referrer in
        referrer.edit.content != .deletion || places[referrer.id.type].map { $0 >= own } ?? true
      }
    }
  }

  /// Those of some records that the remote has as they are here.
  private func standing(
    among records: [Record], _ checkpoint: Checkpoint?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<RecordID> {
    // A copy without a version came with the app. What has become of it since, the delta that begins with its token tells, and of deletions,
    // where deltas tell of none, the pass after that.
    #if MUTANTS
      let areBundledKnown = !Mutant.bundledWinnerUnknown.isActive && checkpoint?.hasSeen(since: 1) ?? false
    #else
      let areBundledKnown = checkpoint?.hasSeen(since: 1) ?? false
    #endif
    var standing = Set(records.filter { areBundledKnown || $0.version != .unversioned }.map(\.id))
    let ids = Array(standing)
    standing.subtract(try snapshot.outbox(for: ids).map(\.id))
    if try !snapshot.withheldCounts(entity.type).isEmpty {
      standing.subtract(try snapshot.withheld(for: ids.map { .record($0) }).compactMap(\.change.id))
    }
    return standing
  }
}

extension Checkpoint {
  /// Whether a pass has been completed, with all that it has to remove, after another one.
  fileprivate func hasSeen(since pass: Int64) -> Bool {
    lastPass > pass && inFlight == nil && sweep == nil
  }
}
