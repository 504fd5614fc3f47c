import SyncModels
import SyncPorts

/// The writes of one round, and the outcomes of its changes.
///
/// They are decided from the round and its view alone.
struct MergePlan {
  let entity: Entity
  let context: MergeContext
  let rule: ReplicationRule
  let settler: EditSettler
  let view: PageView
  /// Hidden records that were shown again, because another record refers to them.
  let revealed: Set<RecordID>
  var tally: Tally
  /// Everything that the round writes.
  var changes = StoreChanges()
  /// Records that are live by ``changes`` and were not before.
  var appeared: [RecordID] = []
  /// Edits of records whose remote copies had to be parked.
  ///
  /// They are settled one after the other, after the round is applied.
  var dangling: [(settlement: EditSettlement, origin: Incoming.Origin, entry: OutboxEntry)] = []
  /// Edits that restore immutable fields of copies in ``changes``.
  var restorations: [EditWriter.Change] = []
  /// The notes of the settled edits.
  var settled = SettledEdits()

  /// Changes to withhold, in the order of the decisions.
  var withheld: [WithheldChange] = []
  /// Records whose copies this pass has listed and had to park.
  ///
  /// The mark on such a row belongs to the parked copy.
  private var parkedInPass: Set<RecordID> = []

  /// Plans a round.
  ///
  /// - Parameter tally: The counts so far, which are moved rather than copied.
  init(_ round: MergeRound, _ view: PageView, of merge: PageMerge, counting tally: consuming Tally) {
    entity = merge.entity
    context = merge.context
    rule = merge.rule
    settler = merge.settler
    revealed = merge.revealed
    self.tally = tally
    self.view = view
    planMarks(of: round)
    planMalformed(round)
    planCopies(round)
    planTombstones(round)
    finishWithheld()
  }

  mutating func note(_ outcome: MergeOutcome, of id: RecordID, origin: Incoming.Origin) {
    tally.note(outcome, of: id, origin: origin, by: context.finder)
  }

  private mutating func planMarks(of round: MergeRound) {
    guard context.markPass != nil else { return }
    if round.hasPageCopiesOnly, !view.copyIDs.isEmpty {
      // The same array of ids for which states were read, as a store may know where their rows lie.
      changes.marked = view.copyIDs
    } else {
      for (place, copy) in round.copies.enumerated() where context.isListed(round.origin(ofCopy: place)) {
        changes.marked.append(copy.id)
      }
    }
    for (place, tombstone) in round.tombstones.enumerated()
    where context.isListed(round.origin(ofTombstone: place)) {
      changes.marked.append(tombstone.id)
    }
    for (place, record) in round.malformed.enumerated()
    where context.isListed(round.origin(ofMalformed: place)) {
      if let id = record.id { changes.marked.append(id) }
    }
  }

  // MARK: Copies

  private mutating func planCopies(_ round: MergeRound) {
    var puts: [Int] = []
    puts.reserveCapacity(round.copies.count)
    for place in round.copies.indices {
      let origin = round.origin(ofCopy: place)
      if !view.isPlain, meetsWithheld(.upsert(round.copies[place]), origin) { continue }
      if round.copies[place].schemaVersion > entity.schemaVersion {
        let record = round.copies[place]
        withheld.append(context.incompatible(record, entity: entity, origin: origin))
        note(.skippedIncompatible, of: record.id, origin: origin)
      } else if context.stages {
        let record = round.copies[place]
        withheld.append(context.staged(.upsert(record), id: record.id, origin: origin))
        note(.deferred, of: record.id, origin: origin)
      } else if !view.edits.isEmpty, let edit = view.edits[round.copies[place].id] {
        planEdited(round.copies[place], edit, origin)
      } else if shows(round, place, origin) {
        puts.append(place)
      }
    }
    if puts.isEmpty { return }
    // Usually all copies are put, or few.
    let copies = puts.count == round.copies.count ? round.copies : puts.map { round.copies[$0] }
    noteClocks(of: copies)
    planRestorations(of: copies)
    changes.put = changes.put.isEmpty ? copies : changes.put + copies
  }

  /// Returns whether to show a copy to readers; counts it, and withholds it if not.
  private mutating func shows(_ round: MergeRound, _ place: Int, _ origin: Incoming.Origin) -> Bool {
    let stored = view.copyStates[place]
    let outcome = outcome(of: round, place, over: stored, origin)
    // Not as an optional record, which is copied even if it is nil.
    let isUnrivalled = view.rivals.isEmpty || rival(of: round.copies[place].id) == nil
    if outcome == .unchanged || outcome == .skippedOlder, isUnrivalled {
      if outcome == .unchanged, let stored, !rule.restates(round.copies[place].version, stored) {
        changes.versions.append(round.copies[place])
      }
      note(outcome, of: round.copies[place].id, origin: origin)
      return false
    }
    // Only copies that need further checks are copied from the round.
    if view.absent.isEmpty, isUnrivalled {
      let id = round.copies[place].id
      note(outcome, of: id, origin: origin)
      if outcome.shows { appeared.append(id) }
      return true
    }
    let record = round.copies[place]
    let missing = view.absent.isEmpty ? [] : record.missing(view.absent, entity)
    if let stored, let rival = rival(of: record.id) {
      // Of two records that cannot both be shown, a record that can be shown wins.
      guard outcome == .updated, missing.isEmpty else {
        quarantineRival(record)
        return false
      }
      quarantineRival(rival)
      // Scans write only changed rows: a row of an earlier scan was counted as unchanged, and is
      // changed now.
      if entity.remote.versions == .perScan, stored.version.sequence < record.version.sequence {
        tally.retractUnchanged(entity.type)
        note(.updated, of: record.id, origin: .page)
      }
      return true
    }
    guard missing.isEmpty else {
      withheld.append(context.parked(record, waitingFor: missing, origin: origin))
      note(.deferred, of: record.id, origin: origin)
      return false
    }
    if outcome.shows { appeared.append(record.id) }
    note(outcome, of: record.id, origin: origin)
    return true
  }

  /// Returns the outcome of a copy.
  ///
  /// The store's own copy, read for a listing of keys, does not replace what a page since has brought
  /// under the same version.
  private func outcome(
    of round: MergeRound, _ place: Int, over stored: StoredState?, _ origin: Incoming.Origin
  ) -> MergeOutcome {
    let version = round.copies[place].version
    let outcome = rule.outcome(ofCopy: version, over: stored)
    guard outcome == .updated, !context.ownCopies.isEmpty, stored?.version == version, origin.isPage,
      context.ownCopies.contains(round.copies[place].id)
    else { return outcome }
    return .unchanged
  }

  /// The row that a copy of the same listing would replace.
  private func rival(of id: RecordID) -> Record? { parkedInPass.contains(id) ? nil : view.rivals[id] }

  /// Notes copies whose stamps are further ahead of the local clock than the bound allows.
  private mutating func noteClocks(of records: [Record]) {
    guard let name = entity.stampMember else { return }
    let limit = context.now + context.edits.maximumClockSkew
    // Most copies carry no stamp, which a scan of their bytes shows.
    for record in records where record.payload.mentions(name) {
      guard let stamp = entity.statedStamp(in: record.payload), stamp.physical > limit else { continue }
      tally.noteClock(of: record.id, ahead: stamp.physical.duration(since: context.now))
    }
  }

  /// Plans edits that restore the earliest values of immutable fields.
  private mutating func planRestorations(of copies: [Record]) {
    if view.rows.isEmpty { return }
    for copy in copies {
      let kept = entity.keepingImmutable(copy.payload, view.rows[copy.id]?.payload)
      guard kept != copy.payload else { continue }
      // A remote that writes the field itself would be corrected with every push.
      if view.restored.contains(copy.id) {
        tally.noteAssigned(copy.id)
        continue
      }
      restorations.append(
        EditWriter.Change(
          shown: copy, content: .upsert(kept, schemaVersion: copy.schemaVersion),
          author: .restoration(of: copy, by: entity)))
    }
  }

  // MARK: Tombstones

  private mutating func planTombstones(_ round: MergeRound) {
    for (place, tombstone) in round.tombstones.enumerated() {
      let origin = round.origin(ofTombstone: place)
      if !view.isPlain, meetsWithheld(.tombstone(tombstone), origin) { continue }
      if context.stages {
        withheld.append(context.staged(.tombstone(tombstone), id: tombstone.id, origin: origin))
        note(.deferred, of: tombstone.id, origin: origin)
      } else if let edit = view.edits[tombstone.id] {
        planEdited(tombstone, edit, origin)
      } else {
        plan(tombstone, over: view.tombstoneStates[place], origin)
      }
    }
  }

  /// Deletes an unreferenced record, or holds the tombstone until the record is unreferenced.
  private mutating func plan(_ tombstone: Tombstone, over stored: StoredState?, _ origin: Incoming.Origin) {
    let outcome = rule.outcome(of: tombstone, over: stored)
    if outcome == .deleted, isReferenced(tombstone.id) {
      withheld.append(context.held(tombstone, origin: origin))
      return note(.deferred, of: tombstone.id, origin: origin)
    }
    // The tombstone of an unknown record is written as well, because an older copy may still
    // arrive.
    if outcome != .skippedOlder { changes.deleted.append(tombstone) }
    note(outcome, of: tombstone.id, origin: origin)
  }

  /// Whether a live record, or one that this round shows, refers to a record.
  func isReferenced(_ id: RecordID) -> Bool {
    if view.referenced.contains(id) { return true }
    // A merge policy may have made an edited record refer to it.
    return entity.refersToItself
      && changes.put.contains { entity.requiredReferences(of: $0).contains(id) }
  }

  // MARK: Withheld changes

  private mutating func planMalformed(_ round: MergeRound) {
    for (place, record) in round.malformed.enumerated() {
      let origin = round.origin(ofMalformed: place)
      var key = record.id.map { WithheldChange.Key.record($0) }
      if !view.isPlain, meetsWithheld(.malformed(record), origin, &key) { continue }
      withheld.append(context.quarantine(record, at: key ?? .bytes(of: record)))
      tally.note(record)
    }
  }

  private mutating func meetsWithheld(_ change: RecordChange, _ origin: Incoming.Origin) -> Bool {
    var key: WithheldChange.Key?
    return meetsWithheld(change, origin, &key)
  }

  /// Compares a change of the page with the withheld change of its record.
  ///
  /// - Parameter key: The key of a malformed record. It changes if another change of the record
  ///   stays withheld.
  /// - Returns: Whether the change is done with.
  private mutating func meetsWithheld(
    _ change: RecordChange, _ origin: Incoming.Origin, _ key: inout WithheldChange.Key?
  ) -> Bool {
    guard origin.isPage, let id = change.id else { return false }
    if let entry = view.withheld[id] {
      if let restated = context.restated(entry, by: change) {
        withheld.append(restated)
        supersedeBytes(besides: change)
        note(.unchanged, of: id, origin: .page)
        return true
      }
      switch context.standing(of: change, against: entry) {
      case .older:
        withheld.append(context.relisted(entry))
        if case .upsert(let record) = change, isRival(record, of: entry) {
          quarantineRival(record)
        } else {
          note(.skippedOlder, of: id, origin: .page)
        }
        return true
      case .beside:
        withheld.append(context.relisted(entry))
        key = .beside(id)
      case .newer:
        changes.released.append(entry.key)
        if context.needed?.isFreed(by: change, over: entry.change) ?? false { tally.noteFreed(entity.type) }
        if entry.kind == .parked, entry.pass == context.pass { parkedInPass.insert(id) }
        if case .upsert(let record) = change, case .upsert(let loser) = entry.change,
          isRival(record, of: entry)
        {
          quarantineRival(loser, insteadOf: entry)
        } else {
          tally.noteSuperseded(entry, by: context.finder)
        }
      }
    }
    if supersedeBytes(besides: change) == .beside { key = nil }
    return false
  }

  /// Releases a record's separately kept malformed bytes if a change is newer.
  @discardableResult
  private mutating func supersedeBytes(besides change: RecordChange) -> MergeContext.Standing? {
    guard let entry = change.id.flatMap({ view.besides[$0] }) else { return nil }
    let standing = context.standing(of: change, against: entry)
    if standing == .newer {
      changes.released.append(entry.key)
      tally.noteSuperseded(entry, by: context.finder)
    }
    return standing
  }

  /// Whether a withheld copy is another copy from the same listing.
  private func isRival(_ record: Record, of entry: WithheldChange) -> Bool {
    guard context.listsOneInstant, entry.kind == .parked || entry.kind == .staged,
      entry.pass == context.pass, case .upsert(let other) = entry.change
    else { return false }
    return other.payload != record.payload
  }

  /// Quarantines the record that is not shown, of two with one id.
  ///
  /// A listing of one instant may hold an id twice. The copy written last is shown, and the other
  /// one is quarantined.
  ///
  /// - Parameter entry: The withheld change as which the loser was counted, if it was one.
  private mutating func quarantineRival(_ loser: Record, insteadOf entry: WithheldChange? = nil) {
    let malformed = MalformedRecord(
      type: entity.type, key: loser.id.key, bytes: loser.payload.detached(),
      reason: "another record of the same listing has this id, and the one written last is shown")
    withheld.append(context.quarantine(malformed, at: .bytes(of: malformed)))
    if let entry {
      tally.note(malformed, insteadOf: entry, by: context.finder)
    } else {
      tally.note(malformed)
    }
  }

  /// Collects the changes to withhold, the last decision for each key.
  private mutating func finishWithheld() {
    if withheld.isEmpty { return }
    var places: [WithheldChange.Key: Int] = [:]
    for var entry in withheld {
      if case .record(let id) = entry.key, let former = view.withheld[id], former.kind == entry.kind {
        // A copy that comes again has waited since the first one.
        entry.since = former.since
      }
      if entry.kind == .hidden, case .upsert(let record) = entry.change, isShownAgain(record) {
        // The record was shown again at the version of the hidden copy.
        changes.versions.append(record)
      } else if let place = places[entry.key] {
        changes.withheld[place] = entry
      } else {
        places[entry.key] = changes.withheld.count
        changes.withheld.append(entry)
      }
    }
    withheld = []
  }

  /// Whether a hidden record was shown in this transaction, because another refers to it.
  private func isShownAgain(_ record: Record) -> Bool {
    return revealed.contains(record.id)
  }
}
