import SyncModels
import SyncPorts

/// Merges changes of one type into the store, within one transaction.
///
/// It reads what the store has of a whole batch, decides each change, and writes batches: a page costs a handful of calls, whatever its size.
struct PageMerge {
  let entity: Entity
  var context: MergeContext
  var tally: Tally
  /// Records that are known to have no pending edit, or none any more.
  var unedited: Set<RecordID> = []
  /// Records whose copies wait for others of their type, parked since circles were last looked for.
  var parked: Set<RecordID> = []
  /// Records of which the remote has taken what was sent, and says what they are now.
  var answered: Set<RecordID> = []
  /// Hidden records that are shown again, because something refers to them.
  var revealed: Set<RecordID> = []

  let rule: ReplicationRule

  init(_ entity: Entity, context: MergeContext, tally: Tally = Tally()) {
    self.entity = entity
    self.context = context
    self.tally = tally
    rule = ReplicationRule(order: context.versionOrder)
  }

  /// Merges changes in their order. A record that occurs again is merged again, over its first copy.
  ///
  /// - Returns: The records that are live now and were not before.
  mutating func merge(
    _ changes: [Incoming], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var appeared: [RecordID] = []
    for round in Self.rounds(of: changes) {
      appeared += try mergeRound(round, in: transaction)
    }
    return appeared
  }

  mutating func note(_ fate: Fate, of id: RecordID, origin: Incoming.Origin) {
    tally.note(fate, of: id, origin: origin, fence: context.fence)
  }

  /// Splits changes so that no round holds a record twice.
  private static func rounds(of changes: [Incoming]) -> [[Incoming]] {
    var seen: Set<RecordID> = []
    seen.reserveCapacity(changes.count)
    var rounds: [[Incoming]] = []
    var start = changes.startIndex
    for (index, incoming) in changes.enumerated() {
      guard let id = incoming.change.id, !seen.insert(id).inserted else { continue }
      rounds.append(Array(changes[start..<index]))
      start = index
      seen = [id]
    }
    // The usual page is one round, and is not copied.
    return rounds.isEmpty ? [changes] : rounds + [Array(changes[start...])]
  }

  private mutating func mergeRound(
    _ changes: [Incoming], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var batch = Batch(capacity: changes.count)
    let earlier = try entriesWithheld(for: changes, in: transaction)
    for incoming in changes {
      sort(incoming, earlier: earlier, into: &batch)
    }
    if !batch.superseded.isEmpty { try transaction.release(batch.superseded) }

    return try write(&batch, in: transaction)
  }

  /// Writes what was sorted, and returns the records that are live now and were not before.
  mutating func write(
    _ batch: inout Batch, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var appeared = try mergeEditedCopies(&batch, in: transaction)
    appeared += try mergeCopies(&batch, in: transaction)
    try mergeEditedTombstones(&batch, in: transaction)
    try mergeTombstones(&batch, in: transaction)
    var entries = try batch.entries(in: transaction)
    if !revealed.isEmpty { try touchRevealed(&entries, in: transaction) }
    if !entries.isEmpty {
      try transaction.withhold(entries)
      noteParked(entries)
    }
    if context.markPass != nil, !batch.marks.isEmpty { try transaction.mark(batch.marks) }
    return appeared
  }

  /// Takes those records out of what is to be set aside that were hidden, stated anew as they were, and then shown for what refers to them.
  private func touchRevealed(
    _ entries: inout [WithheldChange], in transaction: any StoreTransaction
  ) throws(SyncError) {
    #if MUTANTS
      if Mutant.shownAndHidden.isActive { return }
    #endif
    var shown: [Record] = []
    entries.removeAll { entry in
      guard entry.kind == .hidden, case .upsert(let record) = entry.change, revealed.contains(record.id)
      else { return false }
      shown.append(record)
      return true
    }
    // They were shown at the version that they were hidden at.
    if !shown.isEmpty { try transaction.updateVersions(shown) }
  }

  // MARK: What was set aside before

  /// What is set aside for the records of a round.
  private struct Earlier {
    /// Entries filed under their records.
    var entries: [RecordID: WithheldChange] = [:]
    /// Bytes that could not be read and that came while something else was filed under their record.
    var besides: [RecordID: WithheldChange] = [:]
  }

  private func entriesWithheld(
    for changes: [Incoming], in transaction: any StoreTransaction
  ) throws(SyncError) -> Earlier {
    var earlier = Earlier()
    let counts = try transaction.withheldCounts(entity.type)
    guard !counts.isEmpty else { return earlier }
    let ids = changes.compactMap(\.change.id)
    for entry in try transaction.withheld(for: ids.map { .record($0) }) {
      if case .record(let id) = entry.key { earlier.entries[id] = entry }
    }
    // An edit of a hidden record is made on the hidden copy. Stores of before 2026-11 may hold both, and the edit would never be settled.
    let edited = try pendingEdits(
      of: earlier.entries.values.filter { $0.kind == .hidden }.compactMap(\.change.id), in: transaction
    ).keys
    if !edited.isEmpty { try transaction.release(edited.map { .record($0) }) }
    for id in edited { earlier.entries[id] = nil }
    guard counts[.quarantined, default: 0] > 0 else { return earlier }
    for entry in try transaction.withheld(for: ids.map { .beside($0) }) {
      if let id = entry.change.id { earlier.besides[id] = entry }
    }
    return earlier
  }

  private mutating func sort(_ incoming: Incoming, earlier: Earlier, into batch: inout Batch) {
    let change = incoming.change
    if let id = change.id, context.isListed(incoming.origin) { batch.marks.append(id) }
    var place = WithheldChange.Key.of(change)
    if let id = change.id, let entry = earlier.entries[id], incoming.origin.isPage {
      if let restated = context.restated(entry, by: change) {
        batch.withheld.append(restated)
        supersedeBytes(besides: earlier, by: change, in: &batch)
        return note(.unchanged, of: id, origin: .page)
      }
      switch standing(of: change, against: entry) {
      case .older:
        batch.withheld.append(context.relisted(entry))
        if case .upsert(let record) = change, isRival(record, of: entry) {
          quarantineRival(record, into: &batch)
        } else {
          note(.skippedOlder, of: id, origin: .page)
        }
        return
      case .beside:
        batch.withheld.append(context.relisted(entry))
        place = .beside(id)
      case .newer:
        batch.superseded.append(entry.key)
        if entry.kind == .parked, entry.pass == context.pass { batch.waited.insert(id) }
        if case .upsert(let record) = change, case .upsert(let loser) = entry.change,
          isRival(record, of: entry)
        {
          quarantineRival(loser, insteadOf: entry, into: &batch)
        } else {
          tally.noteSuperseded(entry, fence: context.fence)
        }
      }
    }
    if incoming.origin.isPage, supersedeBytes(besides: earlier, by: change, in: &batch) == .beside {
      place = nil
    }
    switch change {
    case .malformed(let malformed):
      #if MUTANTS
        if Mutant.poisonDropped.isActive { return tally.note(malformed) }
      #endif
      batch.withheld.append(context.quarantine(malformed, at: place ?? .bytes(of: malformed)))
      tally.note(malformed)
    case .upsert(let record) where record.schemaVersion > entity.schemaVersion:
      batch.withheld.append(context.incompatible(record, entity: entity, origin: incoming.origin))
      note(.skippedIncompatible, of: record.id, origin: incoming.origin)
    case .upsert(let record) where context.stages:
      batch.withheld.append(context.staged(change, id: record.id, origin: incoming.origin))
      note(.deferred, of: record.id, origin: incoming.origin)
    case .tombstone(let tombstone) where context.stages:
      batch.withheld.append(context.staged(change, id: tombstone.id, origin: incoming.origin))
      note(.deferred, of: tombstone.id, origin: incoming.origin)
    case .upsert(let record):
      batch.copies.append(record)
      batch.origins.append(incoming.origin)
    case .tombstone(let tombstone):
      batch.tombstones.append((tombstone, incoming.origin))
    }
  }

  /// Forgets bytes that came while something else was filed under their record, once the remote has something newer there.
  @discardableResult
  private mutating func supersedeBytes(
    besides earlier: Earlier, by change: RecordChange, in batch: inout Batch
  ) -> Standing? {
    guard let entry = change.id.flatMap({ earlier.besides[$0] }) else { return nil }
    let standing = standing(of: change, against: entry)
    if standing == .newer {
      batch.superseded.append(entry.key)
      tally.noteSuperseded(entry, fence: context.fence)
    }
    return standing
  }

  private enum Standing { case older, beside, newer }

  private func standing(of change: RecordChange, against entry: WithheldChange) -> Standing {
    switch (change, entry.kind) {
    case (.malformed, .missing): return .newer
    // Bytes that cannot be read have no version: what waits under the same id is kept beside them.
    case (.malformed, .quarantined):
      return entry.change == change || entry.pass < context.pass ? .newer : .beside
    case (.malformed, _): return .beside
    case (_, .missing): return .newer
    // One listing of one instant that holds an id twice: the good copy does not make the bad one good.
    case (_, .quarantined): return listsOneInstant && entry.pass == context.pass ? .beside : .newer
    case (.upsert(let record), _): return isOlder(record.version, than: entry) ? .older : .newer
    case (.tombstone(let tombstone), _): return isOlder(tombstone.version, than: entry) ? .older : .newer
    }
  }

  private func isOlder(_ version: Version, than entry: WithheldChange) -> Bool {
    if context.versionOrder == .latestFetched { return false }
    switch entry.change {
    case .upsert(let record): return version < record.version
    case .tombstone(let tombstone): return version < tombstone.version
    case .malformed: return false
    }
  }
}
