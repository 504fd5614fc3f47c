import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// Checks every commit of a world against the changes that the remote has sent.
final class Watch: Sendable {
  private struct State {
    var view = StoreView()
    /// The number of the check that produced the view, and of the last check.
    var number = 0
    var lastNumber = 0
    var lookedUp = KnownCopies()
    var transactions = 0
    /// Whether the store knows whose its records and edits are.
    var isOwned = false
  }
  private let state = Mutex(State())
  private static let accountKey = "account"
  /// The ids that records have from the beginning.
  private let fixedIDs: [RecordID]
  private let keys: AssignedKeys
  let types: [RecordType]
  private let versions: SourceCapabilities.VersionOrder
  private let ledger: Ledger
  let leases: LeaseWatch
  let pushes = PushWatch()
  let edits: EditWatch
  let observers = ObserverWatch()
  private let hasEdits: Bool

  init(
    types: [RecordType], ids: [RecordID], versions: SourceCapabilities.VersionOrder, leases: LeaseWatch,
    edits: EditWatch, keys: AssignedKeys, hasEdits: Bool, ledger: Ledger
  ) {
    self.edits = edits
    self.hasEdits = hasEdits
    self.types = types
    fixedIDs = ids
    self.keys = keys
    self.versions = versions
    self.leases = leases
    self.ledger = ledger
  }

  /// All ids that a record may have now.
  private var ids: [RecordID] { fixedIDs + keys.all }

  /// Reads the complete current state of a store.
  func view(of snapshot: any StoreSnapshot) throws(SyncError) -> StoreView {
    try StoreView(snapshot, types: types, ids: ids, hasEdits: hasEdits)
  }

  /// The store's state after the last commit.
  var lastView: StoreView { state.withLock { $0.view } }

  /// Whether the store knows whose its records and edits are.
  ///
  /// Without a name from the app, that is known after the first sync.
  var isOwned: Bool { state.withLock { $0.isOwned } }

  /// The checkpoint of a type after the last commit.
  func checkpoint(of type: RecordType) -> Checkpoint? { state.withLock { $0.view.checkpoints[type] } }

  /// Whether a type needs a full listing, because an edit was given up.
  func owesListing(of type: RecordType) -> Bool { state.withLock { $0.view.owedListings.contains(type) } }

  /// Stores the remote's states of single records, from lookups or pushes.
  func heard(_ changes: [RecordChange]) {
    state.withLock { state in
      for change in changes { state.lookedUp.insert(change) }
    }
  }

  /// The view with its records read under a schema.
  ///
  /// The processes of the world may declare different ones.
  private func read(_ view: StoreView, as schema: SyncSchema) -> StoreView {
    ledger.sights[.declarationsChanged] == nil ? view : view.lifted(by: schema)
  }

  /// Compares the store's state with the last commit, both under a schema.
  func compare(_ view: StoreView, _ moment: String, as schema: SyncSchema) {
    let (view, last) = (read(view, as: schema), read(state.withLock { $0.view }, as: schema))
    guard view != last else { return }
    let ids = Set(view.live.keys).union(last.live.keys)
    let changed = ids.filter { view.live[$0] != last.live[$0] }.sorted()
    let all = Touched(last, view).ids.map { WorldEvent.Touch($0, from: last, to: view) }.filter(\.isChange)
    ledger.trace.tell("store", "\(moment) is not as the last transaction left it", facts: .found(all))
    ledger.report(
      .atomicPage,
      """
      \(moment) the store is not as the last transaction left it; \(Counted(changed.count, "live record differs", "live records differ")), \
      such as \(changed.first?.description ?? "none")
      """,
      about: changed.isEmpty ? all.map(\.id).sorted() : changed)
  }

  /// Accepts the complete effect of an app update on the store.
  func redeclared(_ view: StoreView) {
    state.withLock { state in
      state.lastNumber += 1
      (state.view, state.number) = (view, state.lastNumber)
    }
  }

  /// What a transaction finds, before it changes anything.
  struct Find: Sendable {
    /// The complete state, before some transactions.
    fileprivate var view: StoreView?
    fileprivate var told: ObserverWatch.Told
  }

  /// Reads what earlier transactions have left, to compare it.
  func lookBefore(_ transaction: any StoreTransaction) throws(SyncError) -> Find {
    let isTurn = state.withLock { state in
      state.transactions += 1
      return state.transactions % 8 == 1
    }
    return Find(view: isTurn ? try view(of: transaction) : nil, told: try observers.read(transaction))
  }

  /// The state that a transaction leaves, before it is committed.
  struct Look: Sendable {
    fileprivate var view: StoreView
    fileprivate var touched: Touched
    /// The records that the transaction itself was asked to change.
    fileprivate var records: Set<RecordID>
    fileprivate var number: Int
  }

  /// Reads the parts that a transaction was asked to change.
  ///
  /// Other changes are found by the complete comparisons, which run before some transactions and at
  /// the end.
  func look(at transaction: any StoreTransaction, touched: Touched) throws(SyncError) -> Look {
    let (last, isLatest, number) = state.withLock { state in
      let isLatest = state.number == state.lastNumber
      state.lastNumber += 1
      return (state.view, isLatest, state.lastNumber)
    }
    // If an earlier transaction is not committed, or not yet, its order relative to this one is
    // unknown.
    guard isLatest, number > 1 else {
      let view = try view(of: transaction)
      return Look(view: view, touched: Touched(last, view), records: touched.records, number: number)
    }
    var view = last
    try view.update(touched, from: transaction, ids: Set(ids), hasEdits: hasEdits)
    var touched = touched
    let unmarked = touched.unmarked
    let records = touched.records
    if !unmarked.isEmpty { touched.records.formUnion(ids.lazy.filter { unmarked.contains($0.type) }) }
    return Look(view: view, touched: touched, records: records, number: number)
  }

  /// Checks the effect of a transaction, which makes the store forget a person if `isForgetting`.
  func committed(
    _ find: Find, _ look: Look, under authority: WriteAuthority, by incarnation: Incarnation,
    isForgetting: Bool
  ) {
    let moment = "before a transaction of \(incarnation)"
    if let seen = find.view { compare(seen, moment, as: incarnation.schema) }
    let last = state.withLock { state in
      defer { (state.view, state.number) = (look.view, look.number) }
      return state.view
    }
    checkObservers(find.told, moment)
    observers.committed(look.records.lazy.filter { last.live[$0]?.payload != look.view.live[$0]?.payload })
    let (before, after) = (read(last, as: incarnation.schema), read(look.view, as: incarnation.schema))
    let touched = look.touched
    if case .lease(let lease) = authority { pushes.settled(touched.outbox, under: lease.fence) }
    let ids = touched.records.sorted()
    let moves = isForgetting ? [] : moves(before, after, touched, incarnation)
    tell(before, after, touched, moves, under: authority, by: incarnation)
    checkFence(authority, incarnation)
    checkOrder(before, after, ids, incarnation)
    if ids.contains(where: { before.live[$0] != after.live[$0] }) {
      // The next sync repairs references that an app update has left dangling.
      let known = Set(before.dangling(in: incarnation.schema))
      for dangling in after.dangling(in: incarnation.schema) where !known.contains(dangling) {
        ledger.report(.references, dangling.description, about: dangling.records)
      }
    }
    for move in moves {
      checkPages(move, after, incarnation)
      for case .tombstone(let tombstone) in (move.pages ?? []).lazy.flatMap(\.changes) {
        edits.buried(tombstone, epoch: move.checkpoint.epoch)
      }
    }
    checkOrigins(before, after, ids, moves.flatMap { $0.pages ?? [] }, incarnation)
    if touched.values.contains(where: { $0.hasPrefix(Self.accountKey) }) {
      state.withLock { $0.isOwned = !isForgetting }
    }
    if isForgetting { ledger.saw(.accountForgotten) }
    if isForgetting, !touched.records.isEmpty || !touched.outbox.isEmpty {
      checkForgotten(before, after, by: incarnation)
    }
    if case .app = authority {
      incarnation.world.sums?.note(before.live[Sums.id], after.live[Sums.id])
    }
    if hasEdits { edits.committed(before, after, touched, ids, under: authority, by: incarnation) }
    note(before, after, touched.withheld)
  }

  /// A checkpoint that a page moved, and the pages that it covers.
  struct Move {
    var type: RecordType
    var checkpoint: Checkpoint
    /// `nil` if the checkpoint covers more than the process got.
    var pages: [RecordPage]?
  }

  /// Claims the pages that the checkpoints of a transaction cover.
  private func moves(
    _ before: StoreView, _ after: StoreView, _ touched: Touched, _ incarnation: Incarnation
  ) -> [Move] {
    types.compactMap { type in
      guard touched.checkpoints.contains(type), !incarnation.isLoading,
        let checkpoint = after.checkpoints[type]
      else { return nil }
      let earlier = before.checkpoints[type]
      // A sweep also writes the checkpoint, but only a page moves the pass.
      guard
        checkpoint.inFlight != earlier?.inFlight || checkpoint.committedAt != earlier?.committedAt
          || checkpoint.committed != earlier?.committed || checkpoint.lastPass != earlier?.lastPass
      else { return nil }
      return Move(
        type: type, checkpoint: checkpoint,
        pages: incarnation.book.claim(type, before: earlier, after: checkpoint))
    }
  }

  /// Checks that the store tells observers of each record that commits have changed.
  func checkObservers(_ told: ObserverWatch.Told, _ moment: String) {
    let untold = observers.untold(told)
    guard let first = untold.first else { return }
    ledger.report(
      .observation,
      """
      \(moment) the store does not tell observers that \(Counted(untold.count, "record")) changed, such as \(first)
      """,
      about: untold)
  }

  private func checkFence(_ authority: WriteAuthority, _ incarnation: Incarnation) {
    guard case .lease(let lease) = authority, lease.fence < leases.latest else { return }
    ledger.report(
      .oneCommitter, "\(incarnation) commits under lease \(lease.fence); \(leases.latest) was given since")
  }

  private func checkOrder(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    for id in ids {
      guard let state = before.states[id], after.states[id] != state else { continue }
      guard let new = after.states[id] else {
        ledger.report(.replication, "\(incarnation) forgets the version of \(id)", about: [id])
        continue
      }
      if new.version < state.version, versions != .latestFetched, !isOfNewLife(before.outbox[id]),
        !(state.isDeleted && isOfNextAccount(after.outbox[id]))
      {
        ledger.report(
          .replication, "\(incarnation) sets \(id) back from \(state.version) to \(new.version)", about: [id])
      }
    }
  }

  /// Whether an edit makes a record that a person makes anew whose store had forgotten another one.
  private func isOfNextAccount(_ entry: OutboxEntry?) -> Bool {
    entry?.base == OutboxEntry.Base.none && ledger.sights[.accountForgotten] != nil
  }

  /// Whether an edit may have reached a wiped or exchanged remote.
  ///
  /// The next page shows that.
  private func isOfNewLife(_ entry: OutboxEntry?) -> Bool {
    let sights = ledger.sights
    return entry?.sent != nil && sights.haveVersionsStartedOver
      || entry != nil && (sights[.sourceExchanged] ?? sights[.accountExchanged]) != nil
  }

  /// Newly visible copies come from a page within the checkpoint, withheld changes or lookups.
  private func checkOrigins(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ pages: [RecordPage],
    _ incarnation: Incarnation
  ) {
    for id in ids {
      guard let record = after.live[id], before.live[id]?.payload != record.payload else { continue }
      // An edit of the app, or its base, is visible again after the edit is given up.
      if let entry = after.outbox[id], entry.edit.content.payload == record.payload { continue }
      if before.outbox[id]?.base.record?.payload == record.payload { continue }
      if isMoved(record, from: before) { continue }
      let isKnown =
        pages.contains { $0.changes.contains { $0.isCopy(of: id, record.payload) } }
        || before.withheld.values.contains { $0.change.isCopy(of: id, record.payload) }
        || state.withLock { $0.lookedUp.contains(id, record.payload) }
      if !isKnown {
        ledger.report(
          .atomicPage, "\(incarnation) shows a copy of \(id) whose page is not in the checkpoint", about: [id]
        )
      }
    }
  }

  /// Whether a record is an edit of the app, under the key that the remote has given it.
  private func isMoved(_ record: Record, from before: StoreView) -> Bool {
    keys.formerIDs(of: record.id).contains { former in
      guard let edited = before.outbox[former]?.edit.content.payload, var fields = try? FieldMap(edited)
      else { return false }
      // The record may refer to itself.
      for field in fields.fields where fields[field] == Array("\"\(former.key)\"".utf8)[...] {
        fields[field] = Array("\"\(record.id.key)\"".utf8)[...]
      }
      return fields.payload.hasSameMembers(as: record.payload)
    }
  }

  private func checkPages(_ move: Move, _ view: StoreView, _ incarnation: Incarnation) {
    ledger.saw(.commitChecked)
    guard let pages = move.pages else {
      ledger.report(
        .atomicPage, "\(incarnation) moves the checkpoint of \(move.type) past what it got",
        of: move.type)
      return
    }
    for (number, page) in pages.enumerated() {
      for (place, change) in page.changes.enumerated() {
        let later = [page.changes[(place + 1)...]] + pages[(number + 1)...].map { $0.changes[...] }
        let isRestated = later.joined().contains { $0.id != nil && $0.id == change.id }
        if !isRestated, !view.accounts(for: change, epoch: move.checkpoint.epoch) {
          ledger.report(
            .nothingSilent, "\(incarnation) commits a page of \(move.type) without \(change.name)",
            about: change.id.map { [$0] } ?? [])
        }
      }
    }
  }

  /// Notes the observed events of a transaction.
  private func note(_ before: StoreView, _ after: StoreView, _ keys: Set<WithheldChange.Key>) {
    for key in keys {
      if case .record(let id) = key, let entry = before.withheld[key], after.withheld[key] == nil {
        if entry.kind == .hidden, after.live[id] != nil { ledger.saw(.revealed) }
        noteCircle(around: id, entry.kind, before, after)
      }
      guard let entry = after.withheld[key], before.withheld[key] != entry else { continue }
      switch entry.kind {
      case .parked: ledger.saw(.parked)
      case .held: ledger.saw(.held)
      case .incompatible: ledger.saw(.incompatible)
      case .quarantined: ledger.saw(.quarantined)
      case .staged: ledger.saw(.staged)
      case .missing: ledger.saw(.missing)
      case .hidden: ledger.saw(.hidden)
      }
    }
  }
}

extension Watch {
  /// Notes records in a circle that were shown or removed in one transaction.
  private func noteCircle(
    around id: RecordID, _ kind: WithheldChange.Kind, _ before: StoreView, _ after: StoreView
  ) {
    let (view, other) = kind == .parked ? (after, before) : (before, after)
    guard kind == .parked || kind == .held, let record = view.live[id], other.live[id] == nil else { return }
    for case .string(let key)? in [try? record.payload.values(of: ["parent"]).first] {
      let parent = RecordID(type: id.type, key: key)
      guard parent != id, let target = view.live[parent], other.live[parent] == nil else { continue }
      if case .string(id.key)? = try? target.payload.values(of: ["parent"]).first {
        ledger.saw(kind == .parked ? .circleShown : .circleGone)
      }
    }
  }
}

/// Copies of records, by their bytes.
struct KnownCopies: Sendable {
  private var payloads: [RecordID: Set<Payload>] = [:]

  mutating func insert(_ change: RecordChange) {
    guard case .upsert(let record) = change else { return }
    payloads[record.id, default: []].insert(record.payload)
  }

  func contains(_ id: RecordID, _ payload: Payload) -> Bool { payloads[id]?.contains(payload) == true }
}

extension RecordChange {
  /// Whether the change is a copy of a record, with these bytes.
  fileprivate func isCopy(of id: RecordID, _ payload: Payload) -> Bool {
    if case .upsert(let record) = self { record.id == id && record.payload == payload } else { false }
  }

  /// A description of the change for people.
  fileprivate var name: String {
    switch self {
    case .upsert(let record): "the copy of \(record.id) at \(record.version)"
    case .tombstone(let tombstone): "the deletion of \(tombstone.id) at \(tombstone.version)"
    case .malformed(let malformed): "the malformed record \(malformed.key ?? "without a key")"
    }
  }
}

extension StoreView {
  /// Whether a sent change, or a newer one, is stored or withheld.
  fileprivate func accounts(for change: RecordChange, epoch: Int64) -> Bool {
    switch change {
    case .upsert(let record):
      if live[record.id]?.payload == record.payload { return true }
      return isKnown(record.id, at: record.version, epoch: epoch)
    case .tombstone(let tombstone):
      return isKnown(tombstone.id, at: tombstone.version, epoch: epoch)
    case .malformed:
      return withheld.values.contains { $0.kind == .quarantined && $0.change == change }
    }
  }

  private func isKnown(_ id: RecordID, at version: Version, epoch: Int64) -> Bool {
    var version = version
    version.epoch = epoch
    if let state = states[id], state.version >= version { return true }
    switch withheld[.record(id)]?.change {
    case .upsert(let record): return record.version >= version
    case .tombstone(let tombstone): return tombstone.version >= version
    case .malformed, nil: return false
    }
  }
}
