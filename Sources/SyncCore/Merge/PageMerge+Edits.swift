import SyncModels
import SyncPorts

// Records with a pending edit: the remote's word replaces the edit's base, and what readers see follows from both.
extension PageMerge {
  /// The pending edits of some records; of none, for the price of a count, where the type has none.
  func pendingEdits(
    of ids: @autoclosure () -> [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID: OutboxEntry] {
    guard try transaction.outboxCount(entity.type) > 0 else { return [:] }
    var entries: [RecordID: OutboxEntry] = [:]
    let edited = unedited.isEmpty ? ids() : ids().filter { !unedited.contains($0) }
    guard !edited.isEmpty else { return entries }
    for entry in try transaction.outbox(for: edited) { entries[entry.id] = entry }
    return entries
  }

  /// Merges those copies of a round whose records have a pending edit, and takes them out of it.
  ///
  /// - Returns: The records that are live now and were not before.
  mutating func mergeEditedCopies(
    _ batch: inout Batch, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    guard !batch.copies.isEmpty else { return [] }
    let entries = try pendingEdits(of: batch.copies.map(\.id), in: transaction)
    guard !entries.isEmpty else { return [] }
    var (copies, origins): ([Record], [Incoming.Origin]) = ([], [])
    var edited: [(remoteState: RemoteState, origin: Incoming.Origin, entry: OutboxEntry)] = []
    for (place, copy) in batch.copies.enumerated() {
      if let entry = entries[copy.id] {
        edited.append((.copy(copy), batch.origin(ofCopy: place), entry))
      } else {
        copies.append(copy)
        origins.append(batch.origin(ofCopy: place))
      }
    }
    (batch.copies, batch.origins) = (copies, origins)
    let absent = try absentTargets(
      of: edited.compactMap { if case .copy(let record) = $0.remoteState { record } else { nil } },
      of: entity,
      in: transaction)
    var settlements = Settlements()
    var dangling: [(settlement: EditSettlement, origin: Incoming.Origin, entry: OutboxEntry)] = []
    for (remoteState, origin, entry) in edited {
      guard case .copy(let record) = remoteState else { continue }
      let fate = rule.fate(ofCopy: record.version, over: entry.state(comparedWith: record))
      if isKnown(remoteState, to: entry, fate: fate) {
        note(fate, of: record.id, origin: origin)
        continue
      }
      let settlement = try settlement(of: remoteState, entry, in: transaction)
      let missing = try missing(for: settlement, remoteState, absent: absent, in: transaction)
      if missing.isEmpty {
        settle(by: settlement, entry, fate: fate, origin: origin, into: &settlements)
      } else {
        batch.withheld.append(
          context.parked(record, waitingFor: record.missing(absent, entity), origin: origin))
        note(.deferred, of: record.id, origin: origin)
        dangling.append((settlement, origin, entry))
      }
    }
    try settlements.write(of: entity, in: transaction)
    var appeared = settlements.appeared
    // One after the other, on what the others have left: what one of them shows may refer to the next.
    for (settlement, origin, entry) in dangling {
      var given = Settlements()
      try giveWay(entry, to: settlement, origin: origin, into: &given, in: transaction)
      try given.write(of: entity, in: transaction)
      appeared += given.appeared
    }
    return appeared
  }

  /// Merges those tombstones of a round whose records have a pending edit, and takes them out of it.
  mutating func mergeEditedTombstones(
    _ batch: inout Batch, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !batch.tombstones.isEmpty else { return }
    let entries = try pendingEdits(of: batch.tombstones.map(\.tombstone.id), in: transaction)
    guard !entries.isEmpty else { return }
    let edited = batch.tombstones.filter { entries[$0.tombstone.id] != nil }
    batch.tombstones.removeAll { entries[$0.tombstone.id] != nil }
    let referenced = try referenced(among: edited.map(\.tombstone.id), in: transaction)
    var settlements = Settlements()
    for (tombstone, origin) in edited {
      guard let entry = entries[tombstone.id] else { continue }
      var fate = rule.fate(of: tombstone, over: entry.state(comparedWith: nil))
      // A record that only lives here is deleted there for the first time.
      if entry.base == .none { fate = .deleted }
      let remoteState = RemoteState.deletion(tombstone)
      if isKnown(remoteState, to: entry, fate: fate) {
        note(fate, of: entry.id, origin: origin)
        continue
      }
      let settlement = try settlement(of: remoteState, entry, in: transaction)
      if fate == .deleted, settlement.row.isDeleted, referenced.contains(tombstone.id) {
        batch.withheld.append(context.held(tombstone, origin: origin))
        note(.deferred, of: tombstone.id, origin: origin)
      } else {
        settle(by: settlement, entry, fate: fate, origin: origin, into: &settlements)
      }
    }
    try settlements.write(of: entity, in: transaction)
  }

  /// Whether an edited record goes by its deletion: what it shows is for the merge policy to say.
  func deletes(_ tombstone: Tombstone, _ entry: OutboxEntry) -> Bool {
    let fate = rule.fate(of: tombstone, over: entry.state(comparedWith: nil))
    return fate != .skippedOlder && settler.meeting(.deletion(tombstone), entry).row.isDeleted
  }

  /// Whether a word tells nothing that an edit was not made on.
  private func isKnown(_ remoteState: RemoteState, to entry: OutboxEntry, fate: Fate) -> Bool {
    // An answer is heard in any case: what was sent is not under way any more.
    if answered.contains(entry.id) { return false }
    return fate == .skippedOlder
      || remoteState.version == entry.base.version && remoteState.isSame(as: entry.base)
  }

  /// How the remote's word settles an edit. What a policy makes of both may refer to live records alone, or to what the word refers to.
  private func settlement(
    of remoteState: RemoteState, _ entry: OutboxEntry, in transaction: any StoreTransaction
  ) throws(SyncError) -> EditSettlement {
    let isAnswer = answered.contains(entry.id)
    let settlement = settler.meeting(remoteState, entry, isAnswer: isAnswer)
    guard settlement.conflict?.winner == .merged, case .live(let record) = settlement.row else {
      return settlement
    }
    var targets = entity.requiredReferences(of: record)
    if case .copy(let copy) = remoteState {
      let theirs = entity.requiredReferences(of: copy)
      targets.removeAll { theirs.contains($0) }
    }
    guard !targets.isEmpty, let first = try transaction.absent(among: targets).first else {
      return settlement
    }
    return settler.meeting(
      remoteState, entry, isAnswer: isAnswer, policyFlaw: "refers to \(first), which is not here")
  }

  private mutating func settle(
    by settlement: EditSettlement, _ entry: OutboxEntry, fate: Fate, origin: Incoming.Origin,
    into settlements: inout Settlements
  ) {
    settlements.add(settlement, of: entry)
    if settlement.entry == nil, settlement.conflict == nil, case .live(let record) = settlement.row {
      settlements.noteAccepted(entry, record)
    }
    if settlement.entry == nil, !settlement.row.isDeleted, !origin.isPage, !context.isListed(origin) {
      settlements.shownUnlisted = true
    }
    noteFindings(of: settlement, entry)
    // Without a conflict, the record's own edit came back, or the same edit was made elsewhere.
    let noted = settlement.conflict.map { $0.winner == .local ? .skippedOlder : fate } ?? .unchanged
    note(noted, of: entry.id, origin: origin)
    if !noted.isVisible, !settlement.row.shows(entry.edit.content) { tally.noteChanged(entry.id) }
  }

  /// Notes what a settlement found out.
  mutating func noteFindings(of settlement: EditSettlement, _ entry: OutboxEntry) {
    if let ahead = settlement.disbelieved { tally.noteClock(of: entry.id, ahead: ahead) }
    if let flaw = settlement.policyFlaw { tally.notePolicyFlaw(of: entry.id, flaw) }
    if let conflict = settlement.conflict { tally.note(conflict) }
  }

  var settler: EditSettler {
    EditSettler(
      entity: entity, policy: context.edits.policy(for: entity.type),
      serverManagedFields: context.serverManagedFields,
      maximumClockSkew: context.edits.maximumClockSkew, now: context.now)
  }
}

// MARK: - What the remote said to a push

extension PageMerge {
  /// Writes down what the remote said to edits that were sent to it.
  ///
  /// - Parameters:
  ///   - accepted: Edits that it took, each as it was sent, with what the remote has now.
  ///   - met: What the remote has instead of what an edit was made on.
  mutating func settle(
    accepted: [(entry: OutboxEntry, remoteState: RemoteState)], met: [RemoteState],
    in transaction: any StoreTransaction
  ) throws(SyncError) {
    var dequeued: [RecordID] = []
    var rebuilt: [(entry: OutboxEntry, record: Record)] = []
    var remoteStates: [Incoming] = []
    unedited.reserveCapacity(unedited.count + accepted.count)
    for (entry, remoteState) in accepted {
      if let sent = entry.sent, sent != entry.edit {
        answered.insert(entry.id)
      } else {
        dequeued.append(entry.id)
        // The answer may be what somebody else has made of the record since.
        if case .rebuild = entry.author, case .copy(let record) = remoteState,
          remoteState.fulfils(
            entry.taking(context.serverManagedFields, of: remoteState).edit.content, on: entry.base)
        {
          rebuilt.append((entry, record))
        }
        unedited.insert(entry.id)
      }
      remoteStates.append(Incoming(remoteState.change))
    }
    if !dequeued.isEmpty { try transaction.dequeue(dequeued) }
    for (entry, record) in rebuilt {
      try FormerWrites.note(entry, accepted: record, of: entity, in: transaction)
    }
    // Without its edit, the record takes the remote's copy as any other does; with a newer one, the copy meets that.
    try mergeAndRelease(remoteStates + met.map { Incoming($0.change) }, in: transaction)
    answered = []
  }
}

/// What settlements write, collected into batches.
struct Settlements {
  var puts: [Record] = []
  var deletes: [Tombstone] = []
  var queue: [OutboxEntry] = []
  var dequeue: [RecordID] = []
  var conflicts: [Conflict] = []
  /// The records that are live by these and were not before.
  var appeared: [RecordID] = []
  /// Whether a record shows a copy now, with no edit on top, that no listing held which is under way.
  var shownUnlisted = false
  /// What the remote made of rebuilds' edits.
  var rebuilt: [(entry: OutboxEntry, record: Record)] = []

  mutating func noteAccepted(_ entry: OutboxEntry, _ record: Record) {
    if case .rebuild = entry.author { rebuilt.append((entry, record)) }
  }

  mutating func add(_ settlement: EditSettlement, of entry: OutboxEntry) {
    switch settlement.row {
    case .live(let record):
      puts.append(record)
      if entry.edit.content == .deletion { appeared.append(record.id) }
    case .deleted(let tombstone):
      deletes.append(tombstone)
    }
    if let entry = settlement.entry { queue.append(entry) } else { dequeue.append(entry.id) }
    if let conflict = settlement.conflict { conflicts.append(conflict) }
  }

  func write(of entity: Entity, in transaction: any StoreTransaction) throws(SyncError) {
    if !puts.isEmpty { try transaction.put(puts) }
    if !deletes.isEmpty { try transaction.delete(deletes) }
    if !queue.isEmpty { try transaction.queue(queue) }
    if !dequeue.isEmpty { try transaction.dequeue(dequeue) }
    if !conflicts.isEmpty { try transaction.log(conflicts) }
    if shownUnlisted { try ListingGap.expose(entity.type, in: transaction) }
    for (entry, record) in rebuilt {
      try FormerWrites.note(entry, accepted: record, of: entity, in: transaction)
    }
  }
}

extension OutboxEntry {
  /// What the remote's last word is to a merge, apart from the edit on top of it.
  func state(comparedWith copy: Record?) -> StoredState? {
    switch base {
    case .none: nil
    case .copy(let record):
      StoredState(
        version: record.version, isDeleted: false, hasSamePayload: record.payload == copy?.payload,
        isMarked: false)
    case .deleted(let tombstone):
      StoredState(version: tombstone.version, isDeleted: true, hasSamePayload: false, isMarked: false)
    }
  }
}

extension EditSettlement.Row {
  var isDeleted: Bool {
    if case .deleted = self { true } else { false }
  }

  /// Whether readers see what an edit wants, byte by byte.
  func shows(_ content: Edit.Content) -> Bool {
    switch (self, content) {
    case (.live(let record), .upsert(let payload, _)): record.payload == payload
    case (.deleted, .deletion): true
    default: false
    }
  }
}
