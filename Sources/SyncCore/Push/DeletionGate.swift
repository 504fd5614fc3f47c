import SyncModels
import SyncPorts

/// An obstacle that delays a deletion.
enum DeletionObstacle: Hashable, Sendable {
  /// No pull was completed since the rebuild that deletes the record.
  ///
  /// The winner may be gone from the remote, and another record may refer to this one there.
  case pull
  /// The record's winner is gone, or differs from the remote state.
  case winner(RecordID?)
  /// A withheld copy refers to the record.
  case withheld
  /// The remote's copies of these refer to the record, until their own edits are accepted.
  case referrers([RecordID])

  /// The records that have to change first.
  var records: [RecordID] {
    switch self {
    case .referrers(let ids): ids
    case .winner(let id): id.map { [$0] } ?? []
    case .pull, .withheld: []
    }
  }

  /// Why the deletion waits, for a person.
  var reason: String {
    switch self {
    case .pull:
      "waits until a pull shows that the record it lost to is still at the remote, and that nothing refers to it"
    case .winner(nil): "waits for the next sync, as the record it lost to has gone"
    case .winner(let id?): "waits until \(id), which it lost to, is at the remote as it is here"
    case .withheld: "waits until no withheld change refers to it"
    case .referrers(let ids):
      "waits until the remote has accepted the edits of \(ids.prefix(3).map(\.description).joined(separator: ", ")), which refer to it there"
    }
  }
}

/// Decides which deletions of a type may be sent.
///
/// A sent deletion leaves no dangling reference at the remote, and no group of duplicates without
/// its winner.
struct DeletionGate {
  let entity: Entity
  let schema: SyncSchema

  /// Returns the obstacles of those deletions that rebuilds have made.
  func obstacles(
    of entries: [OutboxEntry], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: DeletionObstacle] {
    // A deletion that was sent before is sent again unchanged.
    let losers = entries.filter { $0.loser != nil && $0.sent == nil }
    guard !losers.isEmpty else { return [:] }
    let winners = try LoserWinners(of: losers, entity, in: snapshot)
    let checkpoint = try snapshot.checkpoint(for: entity.type)
    let withheld = try Referrers.Withheld(to: entity.type, in: schema).targets(
      among: losers.map(\.id), kinds: [.parked, .hidden, .incompatible], in: snapshot)
    let unchangedAtRemote = try unchangedAtRemote(among: winners.live.map(\.value), checkpoint, in: snapshot)
    var obstacles: [RecordID: DeletionObstacle] = [:]
    for loser in losers {
      if withheld.contains(loser.id) { obstacles[loser.id] = .withheld }
      switch winners[loser.id] {
      case .gone: obstacles[loser.id] = .winner(nil)
      case .live(let winner) where !unchangedAtRemote.contains(winner.id):
        obstacles[loser.id] = .winner(winner.id)
      case .live, .ended:
        let pass = loser.loser?.pass ?? 0
        if !(checkpoint.map { $0.hasSeen(since: pass) } ?? false) { obstacles[loser.id] = .pull }
      }
    }
    return obstacles
  }

  /// Returns the edits that remove the remote's last references to each of some records.
  ///
  /// - Parameter limit: The most edits for each record.
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
      // If there may be more referrers, those are unknown.
      if referrers.count >= limit { return referrers }
      // A record of a type with later deletions refers to this one by an unordered reference, and
      // is deleted as well. Two such records that refer to each other would wait for each other
      // forever.
      return referrers.filter { referrer in
        referrer.edit.content != .deletion || places[referrer.id.type].map { $0 >= own } ?? true
      }
    }
  }

  /// Returns those of some records whose remote state is the same as here.
  private func unchangedAtRemote(
    among records: [Record], _ checkpoint: Checkpoint?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<RecordID> {
    // A copy without a version was bundled with the app. The delta that begins with its token
    // brings its later changes. If deltas bring no deletions, the pass after that delta does.
    let areBundledKnown = checkpoint?.hasSeen(since: 1) ?? false
    var unchangedAtRemote = Set(records.filter { areBundledKnown || $0.version != .unversioned }.map(\.id))
    let ids = Array(unchangedAtRemote)
    unchangedAtRemote.subtract(try snapshot.outbox(for: ids).map(\.id))
    if try !snapshot.withheldCounts(entity.type).isEmpty {
      unchangedAtRemote.subtract(try snapshot.withheld(for: ids.map { .record($0) }).compactMap(\.change.id))
    }
    return unchangedAtRemote
  }
}

extension Checkpoint {
  /// Whether a pass has been completed after another one, with its whole sweep.
  fileprivate func hasSeen(since pass: Int64) -> Bool {
    lastPass > pass && inFlight == nil && sweep == nil
  }
}
