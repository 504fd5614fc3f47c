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
    var edited: [(word: Word, origin: Incoming.Origin, entry: OutboxEntry)] = []
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
      of: edited.compactMap { if case .copy(let record) = $0.word { record } else { nil } }, in: transaction)
    var settlements = Settlements()
    for (word, origin, entry) in edited {
      guard case .copy(let record) = word else { continue }
      let missing = entity.requiredReferences(of: record).filter(absent.contains)
      let fate = rule.fate(ofCopy: record.version, over: entry.state(comparedWith: record))
      if fate != .skippedOlder, fate != .unchanged, !missing.isEmpty {
        batch.setAside.append(context.parked(record, waitingFor: missing, origin: origin))
        note(.deferred, of: record.id, origin: origin)
      } else {
        settle(word, entry, fate: fate, origin: origin, into: &settlements)
      }
    }
    try settlements.write(of: entity.type, in: transaction)
    return settlements.appeared
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
      let isHeld =
        fate == .deleted && referenced.contains(tombstone.id)
        && settler.meeting(.deletion(tombstone), entry).row.isDeleted
      if isHeld {
        batch.setAside.append(context.held(tombstone, origin: origin))
        note(.deferred, of: tombstone.id, origin: origin)
      } else {
        settle(.deletion(tombstone), entry, fate: fate, origin: origin, into: &settlements)
      }
    }
    try settlements.write(of: entity.type, in: transaction)
  }

  private mutating func settle(
    _ word: Word, _ entry: OutboxEntry, fate: Fate, origin: Incoming.Origin,
    into settlements: inout Settlements
  ) {
    if fate == .skippedOlder || word.version == entry.base.version && word.isSame(as: entry.base) {
      return note(fate, of: entry.id, origin: origin)
    }
    let settlement = settler.meeting(word, entry)
    settlements.add(settlement, of: entry)
    if settlement.entry == nil, !settlement.row.isDeleted, !origin.isPage, !context.isListed(origin) {
      settlements.shownUnlisted = true
    }
    if let ahead = settlement.disbelieved { tally.noteClock(of: entry.id, ahead: ahead) }
    if let conflict = settlement.conflict {
      tally.note(conflict)
      note(conflict.winner == .local ? .skippedOlder : fate, of: entry.id, origin: origin)
    } else {
      // The record's own edit came back, or the same edit was made elsewhere: nobody sees a difference.
      note(.unchanged, of: entry.id, origin: origin)
    }
  }

  var settler: EditSettler {
    EditSettler(
      entity: entity, policy: context.edits.policy(for: entity.type), ownFields: context.ownFields,
      clockBound: context.edits.clockBound, now: context.now)
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
    accepted: [(entry: OutboxEntry, word: Word)], met: [Word], in transaction: any StoreTransaction
  ) throws(SyncError) {
    var settlements = Settlements()
    var words: [Incoming] = []
    unedited.reserveCapacity(unedited.count + accepted.count)
    for (entry, word) in accepted {
      if let sent = entry.sent, sent != entry.edit {
        settlements.add(settler.acknowledged(entry, by: word), of: entry)
      } else {
        settlements.dequeue.append(entry.id)
        unedited.insert(entry.id)
        words.append(Incoming(word.change))
      }
    }
    try settlements.write(of: entity.type, in: transaction)
    // Without its edit, the record takes the remote's copy as any other does.
    try mergeAndRelease(words + met.map { Incoming($0.change) }, in: transaction)
  }
}

/// What settlements write, collected into batches.
private struct Settlements {
  var puts: [Record] = []
  var deletes: [Tombstone] = []
  var queue: [OutboxEntry] = []
  var dequeue: [RecordID] = []
  var conflicts: [Conflict] = []
  /// The records that are live by these and were not before.
  var appeared: [RecordID] = []
  /// Whether a record shows a copy now, with no edit on top, that no listing held which is under way.
  var shownUnlisted = false

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

  func write(of type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if !puts.isEmpty { try transaction.put(puts) }
    if !deletes.isEmpty { try transaction.delete(deletes) }
    if !queue.isEmpty { try transaction.queue(queue) }
    if !dequeue.isEmpty { try transaction.dequeue(dequeue) }
    if !conflicts.isEmpty { try transaction.log(conflicts) }
    if shownUnlisted { try ListingGap.expose(type, in: transaction) }
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
}
