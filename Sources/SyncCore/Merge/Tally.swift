import SyncModels

/// The result of a transaction: counts by type, and records that changed for readers.
struct Tally: Sendable {
  /// The counts of the changes' outcomes, by type.
  var counts: [RecordType: SyncCounts] {
    var counts = settled
    if let type { counts[type, default: SyncCounts()] += current }
    return counts
  }
  // Successive changes are mostly of one type, which is then counted without a lookup.
  private var settled: [RecordType: SyncCounts] = [:]
  private var type: RecordType?
  private var current = SyncCounts()
  private(set) var changed = ChangedRecords.records([])
  private(set) var malformed: [MalformedRecord] = []
  private(set) var conflicts: [Conflict] = []
  /// Remote stamps that were too far ahead to be trusted.
  private(set) var clocksAhead: [(id: RecordID, by: Duration)] = []
  /// Invalid resolutions of policies, with the reasons.
  private(set) var policyFlaws: [(id: RecordID, reason: String)] = []
  /// Records of which the remote writes an immutable field itself.
  private(set) var assigned: [RecordID] = []
  /// The types of which a record, without being counted as deleted, may have given up a value that a
  /// refused edit needs.
  private(set) var freed: Set<RecordType> = []
  /// Edits that are refused because another one of their group has lost, with the reasons.
  private(set) var refusals: [(id: RecordID, reason: String)] = []
  /// The committed changes of the pass, and its total if the remote gives one.
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

  /// Counts one change by its outcome.
  ///
  /// A change that this sync had withheld was counted as withheld, and is now counted again. A
  /// change that an earlier sync had withheld was counted by that sync.
  mutating func note(
    _ outcome: MergeOutcome, of id: RecordID, origin: Incoming.Origin, by finder: WithheldChange.Finder
  ) {
    switch origin {
    case .page:
      self[id.type][outcome] += 1
    case .withheld(let entry) where entry.finder == finder:
      if let before = entry.kind.outcome { self[id.type][before] -= 1 }
      self[id.type][outcome] += 1
    case .withheld(let entry) where entry.isFindOfSweep:
      if outcome == .deleted { return noteSwept(id) }
    case .withheld:
      if outcome.isVisible { self[id.type].replayed += 1 }
    }
    if outcome.isVisible { changed.insert(id) }
  }

  /// Counts a withheld change that a later copy replaced before it could be applied.
  mutating func noteSuperseded(_ entry: WithheldChange, by finder: WithheldChange.Finder) {
    guard entry.finder == finder, let outcome = entry.kind.outcome else { return }
    self[entry.key.type][outcome] -= 1
    self[entry.key.type].skippedOlder += 1
  }

  /// Takes back the count of an unchanged row that is changed now.
  mutating func retractUnchanged(_ type: RecordType) {
    self[type].unchanged -= 1
  }

  /// Counts a malformed record that is withheld.
  mutating func note(_ malformed: MalformedRecord) {
    self[malformed.type].quarantined += 1
    self.malformed.append(malformed)
  }

  /// Counts the bytes of an entry that is now withheld for another reason.
  ///
  /// An entry that an earlier sync had withheld was counted by that sync.
  mutating func note(
    _ malformed: MalformedRecord, insteadOf entry: WithheldChange, by finder: WithheldChange.Finder
  ) {
    if entry.finder == finder, let before = entry.kind.outcome {
      self[malformed.type][before] -= 1
      note(malformed)
    } else {
      self.malformed.append(malformed)
    }
  }

  /// Counts a conflict, besides the outcomes.
  mutating func note(_ conflict: Conflict) {
    self[conflict.id.type].conflicts += 1
    conflicts.append(conflict)
  }

  /// Notes a record that changed for readers without a counted change.
  mutating func noteChanged(_ id: RecordID) {
    changed.insert(id)
  }

  /// Notes an invalid resolution of a policy.
  mutating func notePolicyFlaw(of id: RecordID, _ flaw: String) {
    policyFlaws.append((id, flaw))
  }

  /// Notes a remote stamp that was too far ahead to be trusted.
  mutating func noteClock(of id: RecordID, ahead: Duration) {
    clocksAhead.append((id, ahead))
  }

  /// Lists a record of which the remote writes an immutable field itself.
  mutating func noteAssigned(_ id: RecordID) {
    assigned.append(id)
  }

  /// Notes that a record of a type may have given up a value that a refused edit needs.
  mutating func noteFreed(_ type: RecordType) {
    freed.insert(type)
  }

  /// Notes an edit that is refused because another one of its group has lost.
  mutating func noteRefusal(_ refusal: (id: RecordID, reason: String)) {
    refusals.append(refusal)
  }

  /// Counts a hidden record that is shown again, because another record refers to it.
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

  /// Counts the remote's answers about single records.
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
  /// Whether a sweep found the deletion, so that it is not counted yet.
  var isFindOfSweep: Bool { finder == .store && kind == .held }
}

extension WithheldChange.Kind {
  /// The outcome as which a change of this kind is counted.
  ///
  /// `nil` for a missing record, which was not fetched, and for a hidden one.
  var outcome: MergeOutcome? {
    switch self {
    case .parked, .held, .staged: .deferred
    case .incompatible: .skippedIncompatible
    case .quarantined: .quarantined
    case .missing, .hidden: nil
    }
  }
}
