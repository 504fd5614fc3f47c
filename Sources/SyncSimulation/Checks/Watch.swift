import SyncModels
import SyncPorts
import Synchronization

/// Looks over every commit of a world, and compares it with what the remote has sent.
final class Watch: Sendable {
  private struct State {
    var view = StoreView()
    var lookedUp = KnownCopies()
    var transactions = 0
  }
  private let state = Mutex(State())
  private let ids: [RecordID]
  private let types: [RecordType]
  private let versions: SourceCapabilities.VersionOrder
  private let ledger: Ledger
  let leases: LeaseWatch
  let pushes = PushWatch()
  let edits: EditWatch
  private let hasEdits: Bool

  init(
    types: [RecordType], ids: [RecordID], versions: SourceCapabilities.VersionOrder, leases: LeaseWatch,
    edits: EditWatch, hasEdits: Bool, ledger: Ledger
  ) {
    self.edits = edits
    self.hasEdits = hasEdits
    self.types = types
    self.ids = ids
    self.versions = versions
    self.leases = leases
    self.ledger = ledger
  }

  /// Everything that a store says now.
  func view(of snapshot: any StoreSnapshot) throws(SyncError) -> StoreView {
    try StoreView(snapshot, types: types, ids: ids, hasEdits: hasEdits)
  }

  /// What the last commit left in the store.
  var lastView: StoreView { state.withLock { $0.view } }

  /// The checkpoint of a type, as of the last commit.
  func checkpoint(of type: RecordType) -> Checkpoint? { state.withLock { $0.view.checkpoints[type] } }

  /// Remembers what the remote said of single records, asked or pushed.
  func heard(_ changes: [RecordChange]) {
    state.withLock { state in
      for change in changes { state.lookedUp.insert(change) }
    }
  }

  /// Compares what a store says with what the last commit left in it.
  func compare(_ view: StoreView, _ moment: String) {
    let last = state.withLock { $0.view }
    guard view != last else { return }
    let ids = Set(view.live.keys).union(last.live.keys)
    let changed = ids.filter { view.live[$0] != last.live[$0] }.sorted()
    ledger.report(
      .atomicPage,
      """
      \(moment) the store is not as the last transaction left it; of \(changed.count) live records others, \
      such as \(changed.first?.description ?? "none")
      """)
  }

  /// What a store says before a transaction, where it is looked at then: now and then.
  func viewBefore(_ transaction: any StoreTransaction) throws(SyncError) -> StoreView? {
    let isTurn = state.withLock { state in
      state.transactions += 1
      return state.transactions % 8 == 1
    }
    return isTurn ? try view(of: transaction) : nil
  }

  /// Looks over what a transaction did.
  func committed(
    _ seen: StoreView?, _ after: StoreView, under authority: WriteAuthority, by incarnation: Incarnation
  ) {
    if let seen { compare(seen, "before a transaction of \(incarnation)") }
    let before = state.withLock { state in
      defer { state.view = after }
      return state.view
    }
    checkFence(authority, incarnation)
    checkOrder(before, after, incarnation)
    if before.live != after.live {
      for words in after.dangling(in: incarnation.graph) { ledger.report(.references, words) }
    }
    var known = state.withLock { $0.lookedUp }
    for entry in before.shelf.values { known.insert(entry.change) }
    for type in types {
      guard let checkpoint = after.checkpoints[type] else { continue }
      let earlier = before.checkpoints[type]
      // A sweep writes to the checkpoint too; only a page moves the pass.
      if checkpoint.inFlight != earlier?.inFlight || checkpoint.committedAt != earlier?.committedAt
        || checkpoint.committed != earlier?.committed
      {
        for page in checkPages(of: type, from: earlier, to: checkpoint, after, incarnation) {
          for change in page.changes {
            known.insert(change)
            if case .tombstone(let tombstone) = change { edits.buried(tombstone, epoch: checkpoint.epoch) }
          }
        }
      }
    }
    checkOrigins(before, after, known, incarnation)
    if hasEdits { edits.committed(before, after, under: authority, by: incarnation) }
    note(before, after, incarnation)
  }

  private func checkFence(_ authority: WriteAuthority, _ incarnation: Incarnation) {
    guard case .lease(let lease) = authority, lease.fence < leases.latest else { return }
    ledger.report(
      .oneCommitter, "\(incarnation) commits under lease \(lease.fence); \(leases.latest) was given since")
  }

  private func checkOrder(_ before: StoreView, _ after: StoreView, _ incarnation: Incarnation) {
    for (id, state) in before.states.sorted(by: { $0.key < $1.key }) where after.states[id] != state {
      guard let new = after.states[id] else {
        ledger.report(.replication, "\(incarnation) forgets the version of \(id)")
        continue
      }
      if new.version < state.version, versions != .latestFetched {
        ledger.report(.replication, "\(incarnation) sets \(id) back from \(state.version) to \(new.version)")
      }
    }
  }

  /// What readers see anew was in a page that the checkpoint now counts in, or had been set aside, or looked up.
  private func checkOrigins(
    _ before: StoreView, _ after: StoreView, _ known: KnownCopies, _ incarnation: Incarnation
  ) {
    for (id, record) in after.live where before.live[id]?.payload != record.payload {
      // An edit of the app's own, or what it was made on, shown again once it is given up.
      if let entry = after.outbox[id], entry.edit.content.payload == record.payload { continue }
      if before.outbox[id]?.base.record?.payload == record.payload { continue }
      if !known.contains(id, record.payload) {
        ledger.report(.atomicPage, "\(incarnation) shows a copy of \(id) whose page is not in the checkpoint")
      }
    }
  }

  private func checkPages(
    of type: RecordType, from before: Checkpoint?, to after: Checkpoint, _ view: StoreView,
    _ incarnation: Incarnation
  ) -> [RecordPage] {
    ledger.saw(.commitChecked)
    guard let pages = incarnation.book.claim(type, before: before, after: after) else {
      ledger.report(.atomicPage, "\(incarnation) moves the checkpoint of \(type) past what it got")
      return []
    }
    for page in pages {
      for (place, change) in page.changes.enumerated() {
        let isRestated = page.changes[(place + 1)...].contains { $0.id != nil && $0.id == change.id }
        if !isRestated, !view.accounts(for: change, epoch: after.epoch) {
          ledger.report(
            .nothingSilent, "\(incarnation) commits a page of \(type) without \(change.name)")
        }
      }
    }
    return pages
  }

  /// Notes what a transaction showed that the world can do.
  private func note(_ before: StoreView, _ after: StoreView, _ incarnation: Incarnation) {
    for (key, entry) in after.shelf where before.shelf[key] != entry {
      switch entry.kind {
      case .parked: ledger.saw(.parked)
      case .held: ledger.saw(.held)
      case .incompatible: ledger.saw(.incompatible)
      case .quarantined: ledger.saw(.quarantined)
      case .staged: ledger.saw(.staged)
      case .missing: ledger.saw(.missing)
      // No world cleans up.
      case .hidden: break
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
  /// What the change is, for a person.
  fileprivate var name: String {
    switch self {
    case .upsert(let record): "the copy of \(record.id) at \(record.version)"
    case .tombstone(let tombstone): "the deletion of \(tombstone.id) at \(tombstone.version)"
    case .poison(let poison): "the poison \(poison.key ?? "without a key")"
    }
  }
}

extension StoreView {
  /// Whether what was sent is in the store, or something newer is, or it is set aside.
  fileprivate func accounts(for change: RecordChange, epoch: Int64) -> Bool {
    switch change {
    case .upsert(let record):
      if live[record.id]?.payload == record.payload { return true }
      return isKnown(record.id, at: record.version, epoch: epoch)
    case .tombstone(let tombstone):
      return isKnown(tombstone.id, at: tombstone.version, epoch: epoch)
    case .poison:
      return shelf.values.contains { $0.kind == .quarantined && $0.change == change }
    }
  }

  private func isKnown(_ id: RecordID, at version: Version, epoch: Int64) -> Bool {
    var version = version
    version.epoch = epoch
    if let state = states[id], state.version >= version { return true }
    switch shelf[.record(id)]?.change {
    case .upsert(let record): return record.version >= version
    case .tombstone(let tombstone): return tombstone.version >= version
    case .poison, nil: return false
    }
  }
}
