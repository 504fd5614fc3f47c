package import SyncModels
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
  /// The other edits of its atomic group, which are sent with it or not at all.
  var others: [OutboxEntry] = []
  /// The records that the edit waits for.
  ///
  /// They are the records that it refers to and that the remote lacks, as far as the outbox shows.
  /// For a deletion, they are the records that refer to its record at the remote.
  var waitsFor: [RecordID] = []

  /// The edits to send together, in order.
  var entries: [OutboxEntry] { [entry] + others }
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
    // Whether the remote has a default's record is known after the first pull.
    let areSeedsDue = try snapshot.areSeedsDue(type)
    let due = entries.filter {
      $0.isDue(at: now) && stage.includes($0) && !blocked.contains($0.id) && (areSeedsDue || !$0.isSeed)
    }
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
      // The remote's deletion of a parent is settled first.
      let barred = Set(
        try snapshot.withheld(for: new.map { .record($0.id) })
          .filter { WithheldChange.Kind.blocking.contains($0.kind) }.compactMap(\.change.id))
      open = new.filter {
        $0.id.type == type && $0.isDue(at: now) && (areSeedsDue || !$0.isSeed) && !barred.contains($0.id)
          && seen.insert($0.id).inserted
      }
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
  func new(
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

/// Reads a portion of the outbox, after settling its edits with known remote states.
///
/// Edits that were postponed by a clock that was ahead become due. An edit on a copy of another
/// remote loses that base. An edit whose record has a parked copy from the remote is settled by
/// that copy. Edits that cannot be settled yet are not sent.
struct PushOutset: Sendable {
  var portion: PushPortion
  var entity: Entity
  /// The context of the settlements, before the type's checkpoint is known.
  var context: MergeContext

  /// Returns the portion, and the tallies of what was changed.
  func load(in transaction: any StoreTransaction) throws(SyncError) -> (LoadedPortion, [Tally]) {
    var entries = try entries(in: transaction)
    if try SourceExchange.forgetBases(of: entries, entity, in: transaction) {
      entries = try self.entries(in: transaction)
    }
    if try Postponement.makeDue(entries, of: portion.type, at: context.now, in: transaction) {
      entries = try self.entries(in: transaction)
    }
    var tallies = [misstamped(among: entries)].compactMap(\.self)
    var waiting = try copies(under: entries, in: transaction)
    if waiting.contains(where: \.meetsEdits) {
      tallies.append(try settle(by: waiting.filter(\.meetsEdits), in: transaction))
      entries = try self.entries(in: transaction)
      waiting = try copies(under: entries, in: transaction)
    }
    let blocked = Set(waiting.compactMap(\.change.id))
    var loaded = try portion.candidates(
      among: entries, blocked: blocked, entity, in: context.schema, at: context.now, from: transaction)
    loaded.candidates = try GroupCandidates(
      portion: portion, schema: context.schema, now: context.now, snapshot: transaction
    ).gathered(loaded.candidates)
    return (loaded, tallies)
  }

  /// Returns a tally of new edits that a clock has stamped which was put right since.
  ///
  /// Their stamps are trusted no more than those of pulled copies.
  private func misstamped(among entries: [OutboxEntry]) -> Tally? {
    guard entity.stampMember != nil else { return nil }
    let trust = StampTrust(now: context.now, bound: context.edits.maximumClockSkew)
    var tally: Tally?
    for entry in entries where entry.sent == nil && entry.attempts == 0 {
      guard let ahead = trust.lastWrite(of: entry, entity).ahead else { continue }
      tally = tally ?? Tally()
      tally?.noteClock(of: entry.id, ahead: ahead)
    }
    return tally
  }

  private func entries(in transaction: any StoreTransaction) throws(SyncError) -> [OutboxEntry] {
    try transaction.portion(outbox: portion.type, after: portion.after, limit: portion.limit)
  }

  /// Returns the withheld changes that are newer than the bases of the entries' edits.
  private func copies(
    under entries: [OutboxEntry], in transaction: any StoreTransaction
  ) throws(SyncError) -> [WithheldChange] {
    let counts = try transaction.withheldCounts(portion.type)
    guard WithheldChange.Kind.blocking.contains(where: { counts[$0, default: 0] > 0 }) else { return [] }
    let keys = entries.filter { $0.isDue(at: context.now) && portion.stage.includes($0) }
      .map { WithheldChange.Key.record($0.id) }
    guard !keys.isEmpty else { return [] }
    let copies = try transaction.withheld(for: keys).filter { WithheldChange.Kind.blocking.contains($0.kind) }
    return try SourceExchange.own(copies, of: portion.type, in: transaction)
  }

  private func settle(
    by copies: [WithheldChange], in transaction: any StoreTransaction
  ) throws(SyncError) -> Tally {
    let checkpoint = try transaction.checkpoint(for: portion.type)
    var merge = PageMerge(entity, context: context.following(checkpoint))
    try merge.release(copies, in: transaction)
    try ArrivedDuplicates.remember(merge.tally.changed, of: context.schema, in: transaction)
    return merge.tally
  }
}

extension WithheldChange.Kind {
  /// The kinds of withheld copies that block the edits of their records.
  static let blocking: Set<WithheldChange.Kind> = [.parked, .held, .incompatible]
}

extension WithheldChange {
  /// Whether edits can be settled by the change now, with the app's schema version.
  fileprivate var meetsEdits: Bool { kind == .parked || kind == .held }
}

extension OutboxEntry {
  /// The edit to send: the sent and unanswered one, otherwise the latest.
  var next: Edit { sent ?? edit }

  /// The size of the payload to send, in bytes.
  var sizeToSend: Int {
    switch sent?.content ?? edit.content {
    case .upsert(let payload, _): payload.bytes.count
    case .deletion: 0
    }
  }

  /// The change to send.
  var outgoing: OutgoingChange {
    let next = next
    return OutgoingChange(
      id: id, content: next.content, base: remoteBase, key: idempotencyKey(for: next), stamp: next.stamp,
      isBundled: base.version == .unversioned)
  }

  /// The remote state that a push expects.
  ///
  /// A copy without a version was bundled with the app: the remote has not yet reported the record.
  private var remoteBase: OutboxEntry.Base {
    base.version == .unversioned ? .none : base
  }

  /// Whether the entry may be sent now.
  func isDue(at now: Timestamp) -> Bool {
    switch state {
    case .waiting: true
    case .postponed(let until): until <= now
    case .refused: false
    }
  }

  /// Whether the entry creates its record at the remote.
  var isNewToTheRemote: Bool {
    remoteBase.record == nil && next.content != .deletion
  }

  /// Returns the records that must be at the remote before the edit is sent.
  package func requiredReferences(of entity: Entity) -> [RecordID] {
    guard case .upsert(let payload, let schemaVersion) = next.content else { return [] }
    // The payload was parsed when the edit was made. On a failure the fields stay empty.
    let fields = (try? entity.fields(of: payload)) ?? []
    return entity.requiredReferences(
      of: Record(
        id: id, version: .unversioned, schemaVersion: schemaVersion, payload: payload, fields: fields))
  }
}

/// Saves the edits of a batch as sent, in one transaction before the first send.
///
/// After any interruption, they are sent again unchanged, under the same idempotency keys.
struct PushPreparation: Sendable {
  var ids: [RecordID]
  /// The current stage of the push; an edit may have moved to the other stage.
  ///
  /// `nil` for an atomic group, which is sent whole.
  var stage: PushPortion.Stage?
  var now: Timestamp

  /// The entries of a batch, in order.
  struct Prepared: Hashable, Sendable {
    var entries: [OutboxEntry]
    /// Those of the records whose edits were sent before, without an answer.
    var resent: Set<RecordID> = []
  }

  /// Prepares those of the records that are still due.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> Prepared {
    let entries = try transaction.editsInTurn(of: ids)
    let isGroup = stage == nil
    let hasGroups = try transaction.hasAtomicGroups()
    var resent: Set<RecordID> = []
    var prepared: [OutboxEntry] = []
    prepared.reserveCapacity(ids.count)
    for place in ids.indices {
      guard var entry = entries[place], entry.isDue(at: now), stage?.includes(entry) ?? true else { continue }
      if isGroup || hasGroups {
        // The app may have made another group of the records meanwhile, or ended this one.
        let group = try transaction.atomicGroup(of: entry.id) ?? AtomicGroup(members: [entry.id])
        let together = group.toSend(try transaction.outbox(for: group.members)).map(\.id)
        if Set(together) != (isGroup ? Set(ids) : [entry.id]) { continue }
      }
      if entry.sent != nil { resent.insert(entry.id) }
      entry.sent = entry.next
      entry.state = .waiting
      entry.attempts = entry.attempts.addingOne
      prepared.append(entry)
    }
    if isGroup, prepared.count < ids.count { return Prepared(entries: []) }
    if !prepared.isEmpty { try transaction.queue(prepared) }
    return Prepared(entries: prepared, resent: resent)
  }
}
