import SyncModels

/// What a transaction did: counts by type, and the records that readers now see otherwise.
struct Tally: Sendable {
  /// What became of the changes, by type.
  var counts: [RecordType: SyncCounts] {
    var counts = settled
    if let type { counts[type, default: SyncCounts()] += current }
    return counts
  }
  // Changes mostly come one after another of one type, which is then counted without looking it up each time.
  private var settled: [RecordType: SyncCounts] = [:]
  private var type: RecordType?
  private var current = SyncCounts()
  private(set) var changed = SyncEvent.ChangedRecords.some([])
  private(set) var malformed: [MalformedRecord] = []
  private(set) var conflicts: [Conflict] = []
  /// Remote stamps that were too far ahead to be believed.
  private(set) var clocksAhead: [(id: RecordID, by: Duration)] = []
  /// What policies made of clashes, and why it cannot stand.
  private(set) var policyFlaws: [(id: RecordID, reason: String)] = []
  /// How many changes of the pass are committed, and how many it will have, where the remote says so.
  var passProgress: (fetched: Int, total: Int?) = (0, nil)

  private subscript(type: RecordType) -> SyncCounts {
    get { counts[type, default: SyncCounts()] }
    _modify {
      if self.type != type {
        settled = counts
        current = SyncCounts()
        self.type = type
      }
      yield &current
    }
  }

  /// Counts one change by what became of it.
  ///
  /// What this sync had set aside was counted as that, and is counted anew; what an earlier one had set aside, that
  /// one has counted.
  mutating func note(_ fate: Fate, of id: RecordID, origin: Incoming.Origin, fence: Int64) {
    switch origin {
    case .page:
      self[id.type][keyPath: fate.count] += 1
    case .withheld(let entry) where entry.fence == fence:
      if let before = entry.kind.fate { self[id.type][keyPath: before.count] -= 1 }
      self[id.type][keyPath: fate.count] += 1
    case .withheld(let entry) where entry.isFindOfSweep:
      if fate == .deleted { return noteSwept(id) }
    case .withheld:
      if fate.isVisible { self[id.type].replayed += 1 }
    }
    if fate.isVisible { changed.insert(id) }
  }

  /// Counts an entry that a later copy took the place of before it could be applied.
  mutating func noteSuperseded(_ entry: WithheldChange, fence: Int64) {
    guard entry.fence == fence, let path = entry.kind.fate?.count else { return }
    self[entry.key.type][keyPath: path] -= 1
    #if MUTANTS
      if Mutant.supersededUncounted.isActive { return }
    #endif
    self[entry.key.type].skippedOlder += 1
  }

  /// Takes back the count of a row that was as it is listed, and is so no longer.
  mutating func retractUnchanged(_ type: RecordType) {
    self[type].unchanged -= 1
  }

  /// Counts bytes that were set aside.
  mutating func note(_ malformed: MalformedRecord) {
    self[malformed.type].quarantined += 1
    self.malformed.append(malformed)
  }

  /// Counts the bytes of an entry that is set aside for another reason now; what an earlier sync had set aside, that one has counted.
  mutating func note(_ malformed: MalformedRecord, insteadOf entry: WithheldChange, fence: Int64) {
    if entry.fence == fence, let before = entry.kind.fate {
      self[malformed.type][keyPath: before.count] -= 1
      note(malformed)
    } else {
      self.malformed.append(malformed)
    }
  }

  /// Counts a conflict, beside the fates.
  mutating func note(_ conflict: Conflict) {
    self[conflict.id.type].conflicts += 1
    conflicts.append(conflict)
  }

  /// Notes a record that readers see otherwise, though no change is counted as the cause.
  mutating func noteChanged(_ id: RecordID) {
    changed.insert(id)
  }

  /// Notes what a policy made of a clash and what cannot stand.
  mutating func notePolicyFlaw(of id: RecordID, _ flaw: String) {
    policyFlaws.append((id, flaw))
  }

  /// Notes a remote stamp that was too far ahead to be believed.
  mutating func noteClock(of id: RecordID, ahead: Duration) {
    clocksAhead.append((id, ahead))
  }

  /// Counts a record that was hidden and is shown again, because something refers to it.
  mutating func noteRevealed(_ id: RecordID) {
    self[id.type].replayed += 1
    changed.insert(id)
  }

  /// Counts a live record that a changed declaration withholds.
  mutating func noteWithheld(_ id: RecordID) {
    self[id.type].replayed += 1
    changed.insert(id)
  }

  /// Counts a record that a complete listing no longer held.
  mutating func noteSwept(_ id: RecordID) {
    self[id.type].deleted += 1
    self[id.type].swept += 1
    changed.insert(id)
  }

  /// Counts what the remote answered about single records.
  mutating func noteAnswers(of type: RecordType, count: Int) {
    self[type].fetched += count
  }

  /// Counts a page and its changes.
  mutating func notePage(of type: RecordType, changes: Int) {
    self[type].pages += changes > 0 ? 1 : 0
    self[type].fetched += changes
  }
}

extension WithheldChange {
  /// Whether a sweep found the deletion out, so that no remote sent it and nobody has counted it yet.
  var isFindOfSweep: Bool { fence == 0 && kind == .held }
}

extension WithheldChange.Kind {
  /// How a change that is set aside for this reason is counted; a missing record was not fetched at all.
  var fate: Fate? {
    switch self {
    case .parked, .held, .staged: .deferred
    case .incompatible: .skippedIncompatible
    case .quarantined: .quarantined
    case .missing, .hidden: nil
    }
  }
}
