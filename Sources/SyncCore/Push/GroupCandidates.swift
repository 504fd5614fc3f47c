import SyncModels
import SyncPorts

/// Puts the edits of atomic groups together, each group as one candidate.
///
/// A group is sent where the last one of its edits would be sent alone: in the last stage, and the
/// last type of that stage. Whatever any of its edits waits for was sent before. If that is another
/// group, or an edit in the same place, the group waits for it.
struct GroupCandidates {
  let portion: PushPortion
  let schema: SyncSchema
  let now: Timestamp
  let snapshot: any StoreSnapshot

  /// Returns a portion's candidates with those of groups put together.
  ///
  /// Edits of groups that are sent in another place, or not now, are left out.
  func gathered(_ candidates: [PushCandidate]) throws(SyncError) -> [PushCandidate] {
    guard try snapshot.hasAtomicGroups() else { return candidates }
    var gathered: [PushCandidate] = []
    var seen: Set<RecordID> = []
    for candidate in candidates where !seen.contains(candidate.entry.id) {
      guard let group = try snapshot.atomicGroup(of: candidate.entry.id) else {
        gathered.append(candidate)
        continue
      }
      let entries = group.toSend(try snapshot.outbox(for: group.members))
      guard entries.contains(where: { $0.id == candidate.entry.id }) else { continue }
      seen.formUnion(entries.map(\.id))
      guard let ordered = ordered(entries), try maySend(ordered) else { continue }
      gathered.append(try self.candidate(ordered))
    }
    return gathered
  }

  /// The place of an entry in a push: of its stage, and in that of its type.
  private struct Place: Comparable {
    var stage: Int
    var rank: Int

    static func < (a: Place, b: Place) -> Bool { (a.stage, a.rank) < (b.stage, b.rank) }
  }

  private func place(of type: RecordType, _ stage: PushPortion.Stage) -> Place? {
    guard let rank = schema.entities.firstIndex(where: { $0.type == type && $0.access != .local }) else {
      return nil
    }
    return stage == .upserts ? Place(stage: 0, rank: rank) : Place(stage: 1, rank: -rank)
  }

  /// Sorts the edits of a group as they would be sent one after another: targets first, and deletions
  /// last.
  ///
  /// - Returns: `nil` if the group is not sent in this place.
  private func ordered(_ entries: [OutboxEntry]) -> [OutboxEntry]? {
    var placed: [(place: Place, entry: OutboxEntry)] = []
    for entry in entries {
      let stage: PushPortion.Stage = PushPortion.Stage.upserts.includes(entry) ? .upserts : .deletions
      guard let place = place(of: entry.id.type, stage) else { return nil }
      placed.append((place, entry))
    }
    placed.sort { a, b in
      a.place == b.place ? a.entry.edit.stamp < b.entry.edit.stamp : a.place < b.place
    }
    return placed.last?.place == place(of: portion.type, portion.stage) ? placed.map(\.entry) : nil
  }

  /// Whether nothing keeps one of a group's edits from being sent now.
  private func maySend(_ entries: [OutboxEntry]) throws(SyncError) -> Bool {
    guard entries.allSatisfy({ $0.isDue(at: now) }) else { return false }
    for entry in entries where entry.loser != nil {
      guard let entity = schema[entry.id.type] else { return false }
      let gate = DeletionGate(entity: entity, schema: schema)
      if try !gate.obstacles(of: [entry], in: snapshot).isEmpty { return false }
    }
    // The remote's deletions and copies that are withheld are settled first.
    return try !snapshot.withheld(for: entries.map { .record($0.id) })
      .contains { WithheldChange.Kind.blocking.contains($0.kind) }
  }

  private func candidate(_ entries: [OutboxEntry]) throws(SyncError) -> PushCandidate {
    let own = Set(entries.map(\.id))
    var waitsFor: Set<RecordID> = []
    for entry in entries {
      guard let entity = schema[entry.id.type] else { continue }
      waitsFor.formUnion(
        try portion.new(among: entry.requiredReferences(of: entity), in: snapshot).map(\.id))
      guard entry.next.content == .deletion else { continue }
      let gate = DeletionGate(entity: entity, schema: schema)
      waitsFor.formUnion(
        try gate.referrers(to: [entry], limit: portion.limit, in: snapshot).joined().map(\.id))
    }
    waitsFor.subtract(own)
    return PushCandidate(entry: entries[0], others: Array(entries[1...]), waitsFor: waitsFor.sorted())
  }
}
