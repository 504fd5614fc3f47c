import SyncModels
import SyncPorts

/// Merges changes of one type into the store, within one transaction.
///
/// Changes come in rounds. Each round gathers the stored state of its records (``PageView``), plans
/// the writes (``MergePlan``), and applies the plan. A page takes a small number of calls, whatever
/// its size. Records that become live in a round release the copies that were parked for them,
/// which form the next round.
struct PageMerge {
  let entity: Entity
  var context: MergeContext
  var tally: Tally
  /// Records without a pending edit, or whose edit has just been settled.
  var unedited: Set<RecordID> = []
  /// Records with copies that wait for their own type, since the last circle search.
  var parked: Set<RecordID> = []
  /// Records whose sent edit the remote accepted, with its current state as the answer.
  var answered: Set<RecordID> = []
  /// Records of which the remote has just accepted restored immutable fields.
  var restored: Set<RecordID> = []
  /// Hidden records that were shown again, because another record refers to them.
  var revealed: Set<RecordID> = []

  let rule: ReplicationRule

  init(_ entity: Entity, context: MergeContext, tally: Tally = Tally()) {
    self.entity = entity
    self.context = context
    self.tally = tally
    rule = ReplicationRule(order: entity.remote.versions)
  }

  var settler: EditSettler {
    EditSettler(
      entity: entity, policy: context.edits.policy(for: entity.type),
      maximumClockSkew: context.edits.maximumClockSkew, now: context.now)
  }

  // MARK: Rounds

  /// Merges changes in their order. A record that occurs again is merged again.
  ///
  /// - Returns: The records that are live now and were not before.
  mutating func merge(
    _ changes: [Incoming], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var appeared: [RecordID] = []
    for round in MergeRound.rounds(of: changes, selfReferring: entity.refersToItself) {
      appeared += try merge(round, in: transaction)
    }
    return appeared
  }

  /// Gathers, plans and applies one round, then the steps that depend on its result.
  private mutating func merge(
    _ round: MergeRound, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var view = try gather(round, in: transaction)
    let shown = view.absent.isEmpty ? [] : try reveal(for: round, &view, in: transaction)
    let counted = tally
    tally = Tally()
    var plan = MergePlan(round, view, of: self, counting: counted)
    try plan.keepFirstFinds(in: transaction)
    if let needed = context.needed,
      try needed.isAnyFreed(by: plan.changes, of: entity.type, besides: view.withheld, in: transaction)
    {
      plan.tally.noteFreed(entity.type)
    }
    if !plan.changes.isEmpty { try transaction.apply(plan.changes) }
    swap(&tally, &plan.tally)
    noteParked(plan.changes.withheld)
    if !view.inherited.isEmpty {
      try ArrivedDuplicates.remember(.records(view.inherited.sorted()), of: context.schema, in: transaction)
    }
    try plan.settled.write(of: entity, at: context.now, in: transaction, &tally)
    var appeared = shown.isEmpty ? plan.appeared : shown + plan.appeared
    for (settlement, origin, entry) in plan.dangling {
      appeared += try giveWay(entry, to: settlement, origin: origin, in: transaction)
    }
    try restore(plan.restorations, in: transaction)
    return appeared
  }

  /// Shows hidden records that the round's copies refer to, except those that the round replaces.
  ///
  /// - Returns: The records that are live now.
  private mutating func reveal(
    for round: MergeRound, _ view: inout PageView, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var wanted = view.absent
    for copy in round.copies {
      guard let entry = view.withheld[copy.id], entry.kind == .hidden else { continue }
      if !context.passesOver(copy, for: entry) { wanted.remove(copy.id) }
    }
    for tombstone in round.following {
      guard let entry = view.withheld[tombstone.id], entry.kind == .hidden else { continue }
      if !rule.isOlder(tombstone.version, than: entry) { wanted.remove(tombstone.id) }
    }
    let shown = try reveal(wanted, in: transaction)
    view.absent.subtract(shown)
    view.absentOfEdited.subtract(shown)
    return shown
  }

  /// Shows those of some records that are hidden.
  mutating func reveal(
    _ absent: Set<RecordID>, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    let listing = context.markPass.map { (type: entity.type, pass: $0) }
    let records = try HiddenRecords(schema: context.schema, transaction: transaction, listing: listing)
      .reveal(absent)
    for record in records {
      tally.noteRevealed(record.id)
      revealed.insert(record.id)
    }
    return records.map(\.id)
  }

  /// Edits stored copies so that immutable fields show their earliest values.
  private func restore(
    _ changes: [EditWriter.Change], in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !changes.isEmpty else { return }
    var writer = try EditWriter(
      context.schema, at: context.now, maximumClockSkew: context.edits.maximumClockSkew, in: transaction)
    try writer.edit(changes, pending: [:])
    try writer.finish()
  }

  // MARK: Pages and releases

  /// Merges a page's changes, then releases the copies that were parked for them.
  mutating func mergeAndRelease(
    page changes: [RecordChange], in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard let copies = distinctCopies(of: changes) else {
      return try mergeAndRelease(changes.map { Incoming($0) }, in: transaction)
    }
    try releaseParked(
      waitingFor: try merge(MergeRound(copies: copies), in: transaction), in: transaction)
  }

  /// Returns the copies of an ordinary page: only copies, each of another record.
  ///
  /// Such a page is one round. `nil` for other pages.
  private func distinctCopies(of changes: [RecordChange]) -> [Record]? {
    var copies: [Record] = []
    copies.reserveCapacity(changes.count)
    var isAscending = true
    var last: String?
    for change in changes {
      guard case .upsert(let record) = change else { return nil }
      let key = record.id.key
      if isAscending, let last { isAscending = last.precedesByUTF8(key) }
      last = key
      copies.append(record)
    }
    // A remote that lists by id lists no record twice, and checking the order is cheaper than a
    // set.
    if !isAscending, Set(copies.lazy.map(\.id)).count != copies.count { return nil }
    return copies
  }

  /// Merges changes, then releases the copies that were parked for them, and so on.
  mutating func mergeAndRelease(
    _ changes: [Incoming], in transaction: any StoreTransaction
  ) throws(SyncError) {
    let appeared = try merge(changes, in: transaction)
    try releaseParked(waitingFor: appeared, in: transaction)
  }

  /// Merges entries that may no longer have to wait, and what was parked for them.
  mutating func release(_ entries: [WithheldChange], in transaction: any StoreTransaction) throws(SyncError) {
    let appeared = try merge(entries, in: transaction)
    try releaseParked(waitingFor: appeared, in: transaction)
  }

  /// Merges the copies that were parked for some records, and circles that are closed.
  ///
  /// It continues with the copies that were parked for records which become live by that.
  mutating func releaseParked(
    waitingFor appeared: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) {
    try releaseOneByOne(waitingFor: appeared, in: transaction)
    while !parked.isEmpty {
      try releaseOneByOne(waitingFor: showCircles(in: transaction), in: transaction)
    }
  }

  /// Merges the copies parked for some records, and for records that become live by that.
  ///
  /// A copy that still lacks another record is parked again, for that record alone, so the number
  /// of entries decreases with each portion.
  private mutating func releaseOneByOne(
    waitingFor appeared: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !appeared.isEmpty, try isAnythingParked(in: transaction) else { return }
    var pending = appeared[...]
    var before: [WithheldChange.Key] = []
    while !pending.isEmpty {
      let portion = Array(pending.prefix(MergeContext.portion))
      let entries = try transaction.parked(waitingFor: portion, limit: MergeContext.portion)
      // Copies of types that are no longer declared stay withheld, and leave the way to others
      // free.
      let strangers = entries.filter { context.schema[$0.key.type] == nil }
      if entries.count < MergeContext.portion {
        pending = pending.dropFirst(portion.count)
      } else {
        // A store that keeps finding released entries would make this loop endless.
        let keys = entries.map(\.key)
        guard keys != before else { throw .notReleased(keys[0].type) }
        before = keys
        if !strangers.isEmpty { try transaction.withhold(strangers.map(\.waitingForItsDeclaration)) }
      }
      let declared = entries.filter { context.schema[$0.key.type] != nil }
      if !declared.isEmpty { pending += try merge(declared, in: transaction) }
    }
  }

  /// Merges entries of any types, without releasing what waits for them.
  mutating func merge(
    _ entries: [WithheldChange], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    try transaction.release(entries.map(\.key))
    var appeared: [RecordID] = []
    for (type, entries) in Dictionary(grouping: entries, by: \.key.type).sorted(by: { $0.key < $1.key }) {
      guard let other = context.schema[type] else { continue }
      let markPass =
        type == entity.type ? context.markPass : try transaction.checkpoint(for: type)?.markPass
      var merge = PageMerge(other, context: context.forRelease(markPass: markPass), tally: tally)
      appeared += try merge.merge(entries.map { Incoming($0.lifted(by: other)) }, in: transaction)
      tally = merge.tally
      parked.formUnion(merge.parked)
    }
    return appeared
  }

  private func isAnythingParked(in transaction: any StoreTransaction) throws(SyncError) -> Bool {
    // A release may reach types that refer to this one through others.
    for other in context.schema.entities {
      if try transaction.withheldCounts(other.type)[.parked, default: 0] > 0 { return true }
    }
    return false
  }
}

extension MergePlan {
  /// Keeps the time when malformed bytes were first found.
  ///
  /// For bytes without a record id, it also keeps the first sync.
  fileprivate mutating func keepFirstFinds(in snapshot: any StoreSnapshot) throws(SyncError) {
    let keys = changes.withheld.filter { $0.kind == .quarantined }.map(\.key)
    if keys.isEmpty { return }
    for known in try snapshot.withheld(for: keys) where known.kind == .quarantined {
      guard let place = changes.withheld.firstIndex(where: { $0.key == known.key }),
        changes.withheld[place].change == known.change
      else { continue }
      changes.withheld[place].since = known.since
      if known.change.id == nil { changes.withheld[place].finder = known.finder }
    }
  }
}

extension WithheldChange {
  /// The entry as one that waits for no record, until its type is declared again.
  fileprivate var waitingForItsDeclaration: WithheldChange {
    var entry = self
    entry.waitsFor = []
    entry.reason = "the app does not declare \(key.type) any more"
    return entry
  }

  /// Returns the entry with its fields by the current declaration of the type.
  ///
  /// The declaration may have changed since the change was withheld.
  func lifted(by entity: Entity) -> WithheldChange {
    guard case .upsert(var record) = change, let fields = try? entity.fields(of: record.payload) else {
      return self
    }
    var entry = self
    record.fields = fields
    entry.change = .upsert(record)
    return entry
  }
}

extension SyncError {
  fileprivate static func notReleased(_ type: RecordType) -> SyncError {
    SyncError(
      .storeFailure, during: "releasing parked copies of \(type)",
      "The store still finds copies that this transaction released. The transaction was rolled back.")
  }
}
