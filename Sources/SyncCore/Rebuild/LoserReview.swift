import SyncModels
import SyncPorts

/// Reviews, after every pull, the losers whose deletions the remote has not accepted.
///
/// If a winner is gone from the remote, its losers are shown again, and the rest of the group
/// elects anew. So is a loser of an ended group to which a record of the remote refers. What arrived since and refers to a loser is pointed to its winner.
struct LoserReview: SyncPhase {
  private struct Outcome: Sendable {
    var tally: Tally
    var changed: ChangedRecords
    /// Whether there are losers, in the outbox or just removed from it.
    var areAny: Bool
    var last: EditStamp?
    var isComplete: Bool
  }

  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in try !session.typesWithLosers(in: snapshot).isEmpty }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in try await session.typesWithLosers() {
      var last: EditStamp?
      var areAny = false
      while true {
        if session.isStopped { return .stopped }
        let outcome = try await review(entity, after: last, in: session)
        session.report(outcome.tally, of: entity.type)
        session.progress.countCollapsed(outcome.changed, of: entity.type)
        if !outcome.changed.isEmpty { session.environment.emit(.edited(outcome.changed)) }
        areAny = areAny || outcome.areAny
        guard outcome.isComplete else { continue }
        guard let end = outcome.last else { break }
        last = end
      }
      if areAny { continue }
      try await session.write { (transaction) throws(SyncError) in
        try PendingLosers.forget(entity.type, in: transaction)
      }
    }
    return .finished
  }

  private func review(
    _ entity: Entity, after last: EditStamp?, in session: SyncSession
  ) async throws(SyncError) -> Outcome {
    let (environment, fence) = (session.environment, session.fence)
    let collapse = Collapse(entity, RebuildOptions(), in: environment)
    return try await session.write { (transaction) throws(SyncError) in
      let entries = try transaction.portion(outbox: entity.type, after: last)
      let all = entries.filter { $0.loser != nil }
      // The push resolves entries that may have reached the remote.
      let losers = all.filter { $0.sent == nil }
      let winners = try LoserWinners(of: losers, entity, in: transaction)
      let following = winners.following(losers)
      if !following.isEmpty { try transaction.queue(following) }
      var merge = PageMerge(
        entity,
        context: environment.releaseContext(
          fence: fence, markPass: try transaction.checkpoint(for: entity.type)?.markPass, at: collapse.now))
      // Readers would see neither a loser without a winner nor what refers to it.
      let ended = losers.filter { winners[$0.id] == .ended }
      let needed = try Referrers.Withheld(to: entity.type, in: environment.schema).targets(
        among: ended.map(\.id), kinds: [.parked], in: transaction)
      try Self.restore(
        losers.filter { winners[$0.id] == .gone || needed.contains($0.id) }, by: &merge, in: transaction)
      let (changed, isComplete) = try collapse.repoint(
        to: winners.live.mapValues(\.id), by: &merge, in: transaction)
      try ArrivedDuplicates.remember(merge.tally.changed, of: environment.schema, in: transaction)
      return Outcome(
        tally: merge.tally, changed: changed, areAny: !all.isEmpty, last: entries.last?.edit.stamp,
        isComplete: isComplete)
    }
  }

  /// Drops deletions, and shows the remote's last copies again as if they arrived now.
  private static func restore(
    _ orphans: [OutboxEntry], by merge: inout PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !orphans.isEmpty else { return }
    let withheld = try transaction.withheld(of: orphans.map(\.id))
    try transaction.giveUp(orphans)
    // A withheld change of a record is newer than the base, and is shown when it can be.
    try merge.release(
      orphans.compactMap { orphan in
        guard let record = orphan.base.record, withheld[orphan.id] == nil else { return nil }
        return .parked(
          record, waitingFor: [], pass: 0, finder: .store, since: orphan.edit.stamp.physical)
      }, in: transaction)
  }
}

extension SyncSession {
  /// Returns the types with losers of a rebuild that the remote has not yet deleted.
  func typesWithLosers() async throws(SyncError) -> [Entity] {
    try await read { (snapshot) throws(SyncError) in try typesWithLosers(in: snapshot) }
  }

  /// Returns the types with losers, in a snapshot.
  func typesWithLosers(in snapshot: any StoreSnapshot) throws(SyncError) -> [Entity] {
    var losing: [Entity] = []
    for entity in entities where entity.naturalKey != nil {
      if try PendingLosers.areAny(of: entity.type, in: snapshot) { losing.append(entity) }
    }
    return losing
  }
}

/// The losers of a type that wait in the outbox for their deletion.
///
/// One value in the store says whether there are any, so that most syncs need not look for them.
enum PendingLosers {
  /// Whether there are losers.
  static func areAny(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    try snapshot.value(forKey: key(for: type).name) != nil
  }

  /// Saves that there are losers.
  static func remember(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try !areAny(of: type, in: transaction) { try transaction.set(.noted, for: key(for: type)) }
  }

  /// Saves that there are no more losers.
  static func forget(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.remove(key(for: type))
  }

  /// Ends the groups of winners that the app deletes, or gives another natural key.
  ///
  /// Their losers are deleted all the same. Only one to which a record of the remote refers is shown
  /// again.
  static func endGroups(
    of winners: Set<RecordID>, _ type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    try replace(winners, by: nil, type, in: transaction)
  }

  /// Gives the losers of a record that has moved to another key that key.
  static func move(
    _ former: RecordID, to id: RecordID, in transaction: any StoreTransaction
  ) throws(SyncError) {
    try replace([former], by: id, id.type, in: transaction)
  }

  private static func replace(
    _ winners: Set<RecordID>, by new: RecordID?, _ type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard try areAny(of: type, in: transaction) else { return }
    var portions = transaction.portions(outbox: type)
    while let entries = try portions.next() {
      let ended = entries.compactMap { (entry) -> OutboxEntry? in
        guard let winner = entry.loser?.winner, winners.contains(winner) else { return nil }
        return entry.losing(to: new)
      }
      if !ended.isEmpty { try transaction.queue(ended) }
    }
  }

  private static func key(for type: RecordType) -> ValueKey<Noted> { ValueKey(.rebuilds, "\(type)/losers") }
}

extension OutboxEntry {
  /// A rebuild's knowledge of a record that it deletes; `nil` for other entries.
  var loser: Rebuilt? {
    guard case .rebuild(let rebuilt) = author, edit.content == .deletion else { return nil }
    return rebuilt
  }

  /// Returns the deletion of a loser as one that has lost to another record.
  fileprivate func losing(to winner: RecordID?) -> OutboxEntry {
    guard case .rebuild(var rebuilt) = author else { return self }
    var entry = self
    rebuilt.winner = winner
    entry.author = .rebuild(rebuilt)
    return entry
  }
}

/// The winners of some losers, as a snapshot has them.
struct LoserWinners {
  /// What has become of a loser's winner.
  enum Winner: Hashable {
    /// It is live, under the natural key of the loser.
    case live(Record)
    /// It is gone, and the app has not removed it.
    case gone
    /// The app or the remote has ended the group, so the loser goes with it.
    case ended
  }

  private var winners: [RecordID: Winner] = [:]
  /// The winner of each loser that is a winner of other losers.
  private var followers: [RecordID: RecordID?] = [:]

  init(of losers: [OutboxEntry], _ entity: Entity, in snapshot: any StoreSnapshot) throws(SyncError) {
    var wanted = Set(losers.compactMap { $0.loser?.winner })
    var asked: Set<RecordID> = []
    while !wanted.isEmpty {
      asked.formUnion(wanted)
      for entry in try snapshot.outbox(for: wanted.sorted()) {
        if let loser = entry.loser { followers[entry.id] = .some(loser.winner) }
      }
      wanted = Set(followers.values.compactMap(\.self)).subtracting(asked)
    }
    let live = try Self.present(among: asked.filter { followers[$0] == nil }, in: snapshot)
    for loser in losers {
      guard let winner = last(after: loser.loser?.winner) else {
        winners[loser.id] = .ended
        continue
      }
      guard let key = loser.base.record.flatMap({ entity.naturalKey(of: $0.withFields(of: entity)) }) else {
        // The remote's copy is no duplicate. An edit here was one, or the remote has ended the group.
        winners[loser.id] = live[winner] == nil ? .gone : .ended
        continue
      }
      let isSame = live[winner].flatMap { entity.naturalKey(of: $0) }?.isSameUTF8(as: key) ?? false
      winners[loser.id] = live[winner].flatMap { isSame ? .live($0) : nil } ?? .gone
    }
  }

  /// What has become of a loser's winner.
  subscript(id: RecordID) -> Winner { winners[id] ?? .ended }

  /// The live winner of each loser that has one.
  var live: [RecordID: Record] {
    winners.compactMapValues { if case .live(let record) = $0 { record } else { nil } }
  }

  /// Returns those of some losers whose winner has lost to another record, with that one.
  func following(_ losers: [OutboxEntry]) -> [OutboxEntry] {
    losers.compactMap { entry in
      guard let winner = entry.loser?.winner, followers[winner] != nil else { return nil }
      return entry.losing(to: last(after: winner))
    }
  }

  /// Returns the record that a record has lost to in the end.
  private func last(after winner: RecordID?) -> RecordID? {
    var winner = winner
    // Each record has lost once, unless the store is damaged.
    for _ in 0..<followers.count {
      guard let id = winner, let next = followers[id] else { break }
      winner = next
    }
    return winner
  }

  /// Returns the live ones of some records, without those that the remote has deleted.
  ///
  /// Those stay live until no record refers to them.
  private static func present(
    among ids: Set<RecordID>, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: Record] {
    guard let type = ids.first?.type else { return [:] }
    var present: [RecordID: Record] = [:]
    for case let record? in try snapshot.records(withIDs: ids.sorted()) { present[record.id] = record }
    if try snapshot.withheldCounts(type)[.held, default: 0] > 0 {
      for (id, entry) in try snapshot.withheld(of: ids) where entry.kind == .held { present[id] = nil }
    }
    return present
  }
}
