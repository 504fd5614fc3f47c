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
      guard try maySend(entries) else { continue }
      gathered.append(try self.candidate(entries))
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
    guard let rank = schema.entities.firstIndex(where: { $0.type == type }) else { return nil }
    return stage == .upserts ? Place(stage: 0, rank: rank) : Place(stage: 1, rank: -rank)
  }

  private func place(of entry: OutboxEntry) -> Place? {
    place(of: entry.id.type, PushPortion.Stage.upserts.includes(entry) ? .upserts : .deletions)
  }

  /// Whether a group's edits are sent in this place now.
  private func maySend(_ entries: [OutboxEntry]) throws(SyncError) -> Bool {
    guard entries.allSatisfy({ $0.isDue(at: now) }) else { return false }
    let places = entries.compactMap(place)
    guard places.count == entries.count, places.max() == place(of: portion.type, portion.stage) else {
      return false
    }
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
    // Targets first, and deletions last, as they would be sent one after another.
    let ordered = entries.map { ($0, place(of: $0)) }.sorted { a, b in
      guard let first = a.1, let second = b.1, first != second else { return a.0.edit.stamp < b.0.edit.stamp }
      return first < second
    }.map(\.0)
    return PushCandidate(entry: ordered[0], others: Array(ordered[1...]), waitsFor: waitsFor.sorted())
  }
}
