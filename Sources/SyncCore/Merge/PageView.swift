import SyncModels
import SyncPorts

/// The stored state of the records of one round: every read for ``MergePlan``.
struct PageView {
  /// Withheld changes of the round's records.
  var withheld: [RecordID: WithheldChange] = [:]
  /// Malformed bytes that arrived while another change of their record was withheld.
  var besides: [RecordID: WithheldChange] = [:]
  /// Pending edits of the round's records, with their settlements.
  var edits: [RecordID: MetEdit] = [:]
  /// The ids of the copies, in their order; empty if changes are staged.
  var copyIDs: [RecordID] = []
  /// The stored states of the copies' records, in their order; empty if changes are staged.
  var copyStates: [StoredState?] = []
  /// The stored states of the tombstones' records, in their order; empty if changes are staged.
  var tombstoneStates: [StoredState?] = []
  /// Records that the copies refer to and that are not live.
  var absent: Set<RecordID> = []
  /// Those of ``absent`` that copies of edited records refer to.
  var absentOfEdited: Set<RecordID> = []
  /// Records whose edits readers see although they refer to absent records.
  ///
  /// A version of the app with milder declarations has shown them.
  var dangling: Set<RecordID> = []
  /// Records that a policy's merged records refer to and that are not live.
  var absentOfMerged: Set<RecordID> = []
  /// Records of tombstones that live records refer to.
  var referenced: Set<RecordID> = []
  /// Records of tombstones whose pending edits their duplicates will take over.
  var inherited: Set<RecordID> = []
  /// Live rows that a copy of the same listing would replace.
  var rivals: [RecordID: Record] = [:]
  /// Live rows of the copies' records, if the type has immutable fields.
  var rows: [RecordID: Record] = [:]
  /// Records of which the remote has just accepted restored immutable fields.
  var restored: Set<RecordID> = []

  /// Whether no change of the round meets a withheld change or an edit.
  var isPlain: Bool { withheld.isEmpty && besides.isEmpty && edits.isEmpty }
}

/// A pending edit that meets a remote state.
struct MetEdit {
  var entry: OutboxEntry
  /// The outcome of replicating the remote state over the edit's base.
  var outcome: MergeOutcome
  /// The settlement; `nil` if the edit was made on this state or a later one.
  var settlement: EditSettlement?
  /// Whether the remote state answers a push of the sent edit.
  var isAnswer = false
}

extension PageMerge {
  /// Reads the stored state of a round's records.
  func gather(_ round: MergeRound, in transaction: any StoreTransaction) throws(SyncError) -> PageView {
    var view = PageView()
    let counts = try transaction.counts(entity.type, rows: false)
    if !counts.withheld.isEmpty { try gatherWithheld(round, counts.withheld, in: transaction, &view) }
    if context.stages { return view }
    if counts.pending > 0 { try gatherEdits(round, in: transaction, &view) }
    if !round.copies.isEmpty {
      view.copyIDs = round.copies.map(\.id)
      view.copyStates = try transaction.states(of: view.copyIDs, comparing: round.copies.map(\.payload))
      // A copy that is passed over shows nothing, and reveals nothing that it refers to.
      let merged = view.isPlain ? round.copies : round.copies(passingOver: view, in: context)
      view.absent = try absent(among: targets(of: merged, of: entity), in: transaction)
      if !view.absent.isEmpty, !view.edits.isEmpty {
        let edited = round.copies.filter { view.edits[$0.id] != nil }
        view.absentOfEdited = view.absent.intersection(targets(of: edited, of: entity))
        if !view.absentOfEdited.isEmpty { try gatherDangling(in: transaction, &view) }
      }
      try gatherRivals(round, in: transaction, &view)
      // What this store may not correct at the remote is shown as the remote has it.
      if !entity.immutable.isEmpty, entity.access == .readWrite {
        view.restored = restored
        for case let row? in try transaction.records(withIDs: round.copies.map(\.id)) {
          view.rows[row.id] = row
        }
      }
    }
    if !round.tombstones.isEmpty {
      view.tombstoneStates = try transaction.states(of: round.tombstones)
      view.referenced = try referenced(among: round.tombstones.map(\.id), in: transaction)
      let edits = round.tombstones.compactMap { view.edits[$0.id] }
      if !edits.isEmpty { view.inherited = try ArrivedDuplicates.heirs(of: edits, entity, in: transaction) }
    }
    return view
  }

  private func gatherWithheld(
    _ round: MergeRound, _ counts: [WithheldChange.Kind: Int], in transaction: any StoreTransaction,
    _ view: inout PageView
  ) throws(SyncError) {
    let ids = round.ids
    view.withheld = try transaction.withheld(of: ids)
    guard counts[.quarantined, default: 0] > 0 else { return }
    for entry in try transaction.withheld(for: ids.map { .beside($0) }) {
      if let id = entry.change.id { view.besides[id] = entry }
    }
  }

  /// Reads the pending edits of a round's records, and settles each with its remote state.
  private func gatherEdits(
    _ round: MergeRound, in transaction: any StoreTransaction, _ view: inout PageView
  ) throws(SyncError) {
    let entries = try pendingEdits(of: round.copies.map(\.id) + round.tombstones.map(\.id), in: transaction)
    if entries.isEmpty { return }
    let epoch = round.hasWithheldChanges ? try SourceExchange.epoch(of: entity.type, in: transaction) : nil
    for copy in round.copies {
      guard let entry = entries[copy.id] else { continue }
      var outcome = rule.outcome(ofCopy: copy.version, over: entry.state(comparedWith: copy))
      // A withheld change of a former remote settles no edit.
      if copy.version.isBefore(epoch) { outcome = .skippedOlder }
      view.edits[copy.id] = met(entry, by: .copy(copy), outcome)
    }
    for tombstone in round.tombstones {
      guard let entry = entries[tombstone.id] else { continue }
      var outcome = rule.outcome(of: tombstone, over: entry.state(comparedWith: nil))
      // A record that exists only here is deleted there for the first time.
      if entry.base == .none { outcome = .deleted }
      if tombstone.version.isBefore(epoch) { outcome = .skippedOlder }
      view.edits[tombstone.id] = met(entry, by: .deletion(tombstone), outcome)
    }
    // A merge policy may let a record refer only to live records.
    var targets: Set<RecordID> = []
    for edit in view.edits.values {
      guard edit.settlement?.conflict?.winner == .merged, case .live(let record)? = edit.settlement?.row
      else { continue }
      targets.formUnion(entity.requiredReferences(of: record))
    }
    if !targets.isEmpty { view.absentOfMerged = Set(try transaction.absent(among: targets.sorted())) }
  }

  private func gatherDangling(in transaction: any StoreTransaction, _ view: inout PageView) throws(SyncError)
  {
    var needs: [RecordID: [RecordID]] = [:]
    for (id, edit) in view.edits {
      guard case .live(let row) = edit.entry.row(of: entity) else { continue }
      needs[id] = entity.requiredReferences(of: row)
    }
    let absent = try absent(among: Set(needs.values.joined()), in: transaction)
    view.dangling = Set(needs.filter { $0.value.contains(where: absent.contains) }.keys)
  }

  private func met(_ entry: OutboxEntry, by state: RemoteState, _ outcome: MergeOutcome) -> MetEdit {
    // An answer always settles its edit: the sent edit is no longer under way.
    let isAnswer = answered.contains(entry.id)
    let isKnown =
      !isAnswer
      && (outcome == .skippedOlder || state.version == entry.base.version && state.isSame(as: entry.base))
    return MetEdit(
      entry: entry, outcome: outcome,
      settlement: isKnown ? nil : settler.meeting(state, entry, isAnswer: isAnswer), isAnswer: isAnswer)
  }

  /// Reads the rows that copies of the same listing would replace.
  ///
  /// A row that lost its edit during the listing may be marked and older than the listing. The type
  /// is then listed again at once, and that listing finds the rivals.
  private func gatherRivals(
    _ round: MergeRound, in transaction: any StoreTransaction, _ view: inout PageView
  ) throws(SyncError) {
    guard context.listsOneInstant else { return }
    var ids: [RecordID] = []
    for (place, state) in view.copyStates.enumerated() {
      guard let state, state.isMarked, !state.isDeleted, !state.hasSamePayload,
        round.origin(ofCopy: place).isPage
      else { continue }
      ids.append(round.copies[place].id)
    }
    if ids.isEmpty { return }
    let gap = try ListingGap.of(entity.type, in: transaction)
    if gap == .exposed { return }
    for case let row? in try transaction.records(withIDs: ids) { view.rivals[row.id] = row }
    if gap == nil { return }
    // The record of an accepted edit counts as listed, at a version later than the listing's.
    for (place, copy) in round.copies.enumerated()
    where rule.outcome(ofCopy: copy.version, over: view.copyStates[place]) == .skippedOlder {
      view.rivals[copy.id] = nil
    }
  }

  /// Returns the pending edits of some records.
  ///
  /// If the type has none, this costs only a count.
  func pendingEdits(
    of ids: @autoclosure () -> [RecordID], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: OutboxEntry] {
    guard try snapshot.outboxCount(entity.type) > 0 else { return [:] }
    let edited = unedited.isEmpty ? ids() : ids().filter { !unedited.contains($0) }
    return edited.isEmpty ? [:] : try snapshot.edits(of: edited)
  }

  /// Returns those of some records that live records refer to by ordered references.
  func referenced(
    among ids: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    guard !context.schema.referrers(to: entity.type).isEmpty else { return [] }
    return try transaction.referenced(
      among: ids.filter { !context.together.contains($0) }, by: context.schema)
  }

  /// Returns the records that some copies of a type must refer to.
  ///
  /// Records that appear together with the copies are left out.
  func targets(of copies: [Record], of entity: Entity) -> Set<RecordID> {
    let columns = context.referenceColumns(of: entity)
    guard !columns.isEmpty else { return [] }
    var targets = Set<RecordID>(minimumCapacity: copies.count * columns.count)
    for record in copies where record.schemaVersion <= entity.schemaVersion {
      for column in columns {
        guard column.index < record.fields.count, case .string(let key) = record.fields[column.index] else {
          continue
        }
        targets.insert(RecordID(type: column.target, key: key))
      }
    }
    targets.subtract(context.together)
    return targets
  }

  /// Returns those of some records that are not live.
  func absent(
    among targets: Set<RecordID>, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    return targets.isEmpty ? [] : Set(try transaction.absent(among: Array(targets)))
  }
}

extension MergeRound {
  /// The copies without those that change nothing.
  ///
  /// A withheld change settles a copy of the page, or a pending edit was made on it.
  fileprivate func copies(passingOver view: PageView, in context: MergeContext) -> [Record] {
    copies.enumerated().filter { place, copy in
      if let edit = view.edits[copy.id], edit.settlement == nil { return false }
      guard origin(ofCopy: place).isPage, let entry = view.withheld[copy.id] else { return true }
      return !context.passesOver(copy, for: entry)
    }.map(\.element)
  }
}
