import SyncModels
import SyncPorts

/// A part of a type's outbox that is read at once.
struct PushPortion: Hashable, Sendable {
  var type: RecordType
  var stage: Stage
  /// The stamp of the last edit of the previous portion.
  var after: EditStamp?
  var limit: Int

  /// A stage of a push.
  enum Stage: Hashable, Sendable {
    /// Inserts and updates, each type after those that it refers to.
    ///
    /// It includes all edits that an earlier push has sent.
    case upserts
    /// Deletions, each type before those that it refers to.
    case deletions

    /// Whether an entry belongs to the stage.
    func includes(_ entry: OutboxEntry) -> Bool {
      switch self {
      case .upserts: entry.sent != nil || entry.edit.content != .deletion
      case .deletions: entry.edit.content == .deletion
      }
    }
  }
}

/// An edit that may be sent.
struct PushCandidate: Hashable, Sendable {
  var entry: OutboxEntry
  /// The records that the edit waits for.
  ///
  /// They are the records that it refers to and that the remote lacks, as far as the outbox shows.
  /// For a deletion, they are the records that refer to its record at the remote.
  var waitsFor: [RecordID] = []
}

/// A portion of an outbox, as it was read.
struct LoadedPortion: Hashable, Sendable {
  /// The edits to send, and new records of their type that they refer to.
  ///
  /// In no particular order.
  var candidates: [PushCandidate]
  /// The number of entries that were read, in their order.
  var count: Int
  /// The stamp of the last of these entries.
  var last: EditStamp?
}

extension PushPortion {
  /// Selects the edits to send from the portion's entries.
  ///
  /// - Parameter blocked: Records with a withheld copy of the remote, whose edits cannot be sent.
  /// - Complexity: That of the portion and, for a type that refers to itself, of the new records
  ///   above it.
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

  /// Returns the deletions that may be sent, referring records first.
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

  /// Returns the edits that create records at the remote, oldest first.
  ///
  /// The remote has a copy of a withheld change's record, which the app only cannot show. Edits
  /// need not wait for such records.
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
  /// The record of which the remote had a copy, readable or malformed.
  fileprivate var copyID: RecordID? {
    if case .tombstone = change { nil } else { change.id }
  }
}
