import SyncModels
import SyncPorts

// Records with a pending edit: the remote state replaces the edit's base, and readers see the
// result of both.
extension MergePlan {
  mutating func planEdited(_ copy: Record, _ edit: MetEdit, _ origin: Incoming.Origin) {
    guard let met = edit.settlement else { return note(edit.outcome, of: copy.id, origin: origin) }
    let settlement = checked(met, of: edit, by: .copy(copy))
    var missing: [RecordID] = []
    if case .live(let row) = settlement.row { missing = row.missing(view.absentOfEdited, entity) }
    // An edit that readers see although it dangles is pushed, and its record withheld after that.
    if missing.isEmpty || settlement.entry != nil && view.dangling.contains(copy.id) {
      return settle(edit, by: settlement, origin)
    }
    let awaited = copy.missing(view.absentOfEdited, entity)
    withheld.append(context.parked(copy, waitingFor: awaited, origin: origin))
    note(.deferred, of: copy.id, origin: origin)
    dangling.append((settlement, origin, edit.entry))
  }

  mutating func planEdited(_ tombstone: Tombstone, _ edit: MetEdit, _ origin: Incoming.Origin) {
    guard let met = edit.settlement else { return note(edit.outcome, of: tombstone.id, origin: origin) }
    let settlement = checked(met, of: edit, by: .deletion(tombstone))
    // An edit may show a record whose deletion is known.
    let isShown = edit.outcome == .deleted || edit.entry.edit.content != .deletion
    guard isShown, settlement.row.isDeleted,
      view.referenced.contains(tombstone.id) || view.inherited.contains(tombstone.id)
    else {
      return settle(edit, by: settlement, origin)
    }
    withheld.append(context.held(tombstone, origin: origin))
    note(.deferred, of: tombstone.id, origin: origin)
  }

  /// Replaces a settlement whose merged record refers to an absent record.
  ///
  /// References that the remote state has as well are allowed.
  private func checked(
    _ settlement: EditSettlement, of edit: MetEdit, by state: RemoteState
  ) -> EditSettlement {
    guard !view.absentOfMerged.isEmpty, settlement.conflict?.winner == .merged,
      case .live(let record) = settlement.row
    else { return settlement }
    var theirs: [RecordID] = []
    if case .copy(let copy) = state { theirs = entity.requiredReferences(of: copy) }
    let first = entity.requiredReferences(of: record).first {
      !theirs.contains($0) && view.absentOfMerged.contains($0)
    }
    guard let first else { return settlement }
    return settler.meeting(
      state, edit.entry, isAnswer: edit.isAnswer, policyFlaw: "refers to \(first), which is not here")
  }

  private mutating func settle(_ edit: MetEdit, by settlement: EditSettlement, _ origin: Incoming.Origin) {
    let entry = edit.entry
    changes.add(settlement, of: entry)
    if entry.edit.content == .deletion, case .live(let record) = settlement.row { appeared.append(record.id) }
    settled.note(settlement, of: entry.id)
    if settlement.entry == nil, settlement.conflict == nil, case .live(let record) = settlement.row,
      case .rebuild = entry.author
    {
      settled.rebuilt.append((entry, record))
    }
    if settlement.entry == nil, !settlement.row.isDeleted, !origin.isPage, !context.isListed(origin) {
      settled.showsUnlisted = true
    }
    tally.note(settlement, of: entry)
    // Without a conflict, the record's own edit came back, or another replica made the same edit.
    let outcome = settlement.conflict.map { $0.winner == .local ? .skippedOlder : edit.outcome } ?? .unchanged
    note(outcome, of: entry.id, origin: origin)
    if !outcome.isVisible, !settlement.row.shows(entry.edit.content) { tally.noteChanged(entry.id) }
    // The remote has deleted the record, perhaps as the edit did.
    if settlement.entry == nil, settlement.row.isDeleted { tally.noteFreed(entity.type) }
  }
}

/// Notes to write after the rows of settled edits.
struct SettledEdits {
  /// Whether a record without an edit now shows a copy that the current listing lacked.
  var showsUnlisted = false
  /// The edits of rebuilds that the remote accepted.
  var rebuilt: [(entry: OutboxEntry, record: Record)] = []
  /// The records whose edits are over, and of those the ones over which the remote has won.
  private var (over, lost): ([RecordID], [RecordID]) = ([], [])

  mutating func note(_ settlement: EditSettlement, of id: RecordID) {
    if let entry = settlement.entry {
      // Of a rebuild's deletion, only what was sent before belonged to a group.
      if entry.loser != nil, entry.sent == nil { over.append(id) }
      return
    }
    if settlement.conflict?.winner == .remote { lost.append(id) } else { over.append(id) }
  }

  func write(
    of entity: Entity, at now: Timestamp, in transaction: any StoreTransaction, _ tally: inout Tally
  ) throws(SyncError) {
    try transaction.leaveGroups(over)
    for refusal in try transaction.breakGroups(of: lost, at: now) { tally.noteRefusal(refusal) }
    if showsUnlisted { try ListingGap.expose(entity.type, in: transaction) }
    for (entry, record) in rebuilt {
      try FormerWrites.keep(entry, accepted: record, of: entity, in: transaction)
    }
  }
}

extension StoreChanges {
  /// Adds a settlement's row, outbox entry and conflict.
  mutating func add(_ settlement: EditSettlement, of entry: OutboxEntry) {
    switch settlement.row {
    case .live(let record): put.append(record)
    case .deleted(let tombstone): deleted.append(tombstone)
    }
    if let entry = settlement.entry { queued.append(entry) } else { dequeued.append(entry.id) }
    if let conflict = settlement.conflict { conflicts.append(conflict) }
  }
}

extension Tally {
  /// Notes the untrusted clock, policy flaw and conflict of a settlement.
  mutating func note(_ settlement: EditSettlement, of entry: OutboxEntry) {
    if let ahead = settlement.distrusted { noteClock(of: entry.id, ahead: ahead) }
    if let flaw = settlement.policyFlaw { notePolicyFlaw(of: entry.id, flaw) }
    if let conflict = settlement.conflict { note(conflict) }
  }
}

extension OutboxEntry {
  /// Returns the remote state as a merge compares it, without the edit on top.
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

  /// Whether readers see the result of an edit, byte for byte.
  func shows(_ content: Edit.Content) -> Bool {
    switch (self, content) {
    case (.live(let record), .upsert(let payload, _)): record.payload == payload
    case (.deleted, .deletion): true
    default: false
    }
  }
}

extension Record {
  /// Returns those of some records that this one refers to.
  func missing(_ absent: Set<RecordID>, _ entity: Entity) -> [RecordID] {
    absent.isEmpty ? [] : entity.requiredReferences(of: self).filter(absent.contains)
  }
}
