import SyncModels
import SyncPorts

/// A part of a type's outbox that is read at once.
struct PushPortion: Hashable, Sendable {
  var type: RecordType
  var stage: Stage
  /// The stamp of the edit after which it begins.
  var after: EditStamp?
  var limit: Int

  /// The two halves of a push.
  enum Stage: Hashable, Sendable {
    /// What makes or changes records, each type after those that it refers to; and whatever was sent before, of an earlier push.
    case upserts
    /// What removes records, each type before those that it refers to.
    case deletions

    /// Whether it is an entry's turn.
    func includes(_ entry: OutboxEntry) -> Bool {
      switch self {
      case .upserts: entry.sent != nil || entry.edit.content != .deletion
      case .deletions: entry.edit.content == .deletion
      }
    }
  }
}

/// An edit whose turn it is.
struct PushCandidate: Hashable, Sendable {
  var entry: OutboxEntry
  /// The records that it refers to and that the remote has not got, as far as the outbox knows; of a deletion, those that refer to it there.
  var waitsFor: [RecordID] = []
}

/// What was read of an outbox.
struct LoadedPortion: Hashable, Sendable {
  /// Those whose turn it is, and the new records that they refer to within their type, in no order that matters.
  var candidates: [PushCandidate]
  /// How many entries were looked at, in their order.
  var count: Int
  /// The last one's stamp.
  var last: EditStamp?
}

extension PushPortion {
  /// Takes those out of the portion's entries whose turn it is.
  ///
  /// - Parameter blocked: Records of which the remote has a copy that waits here, so that no edit of them can be sent.
  /// - Complexity: That of the portion and, for a type that refers to itself, of the new records above it.
  func candidates(
    among entries: [OutboxEntry], blocked: Set<RecordID>, _ entity: Entity, in schema: SyncSchema,
    at now: Timestamp, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> LoadedPortion {
    var loaded = LoadedPortion(candidates: [], count: entries.count, last: entries.last?.edit.stamp)
    let due = entries.filter { $0.isDue(at: now) && stage.includes($0) && !blocked.contains($0.id) }
    if stage == .deletions {
      loaded.candidates = try deletions(due, entity, in: schema, at: now, from: snapshot)
      return loaded
    }
    guard entity.references.contains(where: \.isOrdered) else {
      loaded.candidates = due.map { PushCandidate(entry: $0) }
      return loaded
    }
    var seen = Set(due.map(\.id))
    var open = due
    while !open.isEmpty {
      let references = open.map { $0.requiredReferences(of: entity) }
      let new = try new(among: Set(references.joined()).sorted(), in: snapshot)
      let absent = Set(new.map(\.id))
      for (entry, references) in zip(open, references) {
        loaded.candidates.append(
          PushCandidate(entry: entry, waitsFor: references.filter(absent.contains)))
      }
      open = new.filter { $0.id.type == type && $0.isDue(at: now) && seen.insert($0.id).inserted }
    }
    return loaded
  }

  /// The deletions that may be sent, after those of the records that refer to theirs at the remote.
  private func deletions(
    _ due: [OutboxEntry], _ entity: Entity, in schema: SyncSchema, at now: Timestamp,
    from snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PushCandidate] {
    let gate = DeletionGate(entity: entity, schema: schema)
    var candidates: [PushCandidate] = []
    var seen = Set(due.map(\.id))
    var open = due
    while !open.isEmpty {
      let obstacles = try gate.obstacles(of: open, in: snapshot)
      open.removeAll { obstacles[$0.id] != nil }
      let referrers = try gate.referrers(to: open, limit: limit, in: snapshot)
      for (entry, referrers) in zip(open, referrers) where referrers.count < limit {
        candidates.append(PushCandidate(entry: entry, waitsFor: referrers.map(\.id)))
      }
      open = referrers.joined().filter {
        $0.id.type == type && stage.includes($0) && $0.isDue(at: now) && seen.insert($0.id).inserted
      }
    }
    return candidates
  }

  /// The edits that make records at the remote, the first one first.
  ///
  /// Of what is set aside the remote has a copy, which the app only cannot show: nobody has to wait for that.
  private func new(
    among ids: [RecordID], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [OutboxEntry] {
    let entries = try snapshot.outbox(for: ids).filter(\.isNewToTheRemote)
    guard !entries.isEmpty else { return [] }
    let known = Set(try snapshot.withheld(for: entries.map { .record($0.id) }).compactMap(\.copyID))
    return entries.filter { !known.contains($0.id) }.sorted { $0.edit.stamp < $1.edit.stamp }
  }
}

extension WithheldChange {
  /// The record that the remote had a copy of, readable or not.
  fileprivate var copyID: RecordID? {
    if case .tombstone = change { nil } else { change.id }
  }
}
