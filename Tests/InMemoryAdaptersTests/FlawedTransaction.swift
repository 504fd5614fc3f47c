import InMemoryAdapters
import SyncModels
import SyncPorts

/// A transaction that breaks its store's promise, and forwards all other calls.
final class FlawedTransaction: ForwardingTransaction {
  let flaw: FlawedStore.Flaw
  let base: any StoreTransaction
  private let uncommitted: UncommittedCopies?
  var readGroups: [String: [Record]] = [:]

  init(flaw: FlawedStore.Flaw, base: any StoreTransaction, uncommitted: UncommittedCopies? = nil) {
    self.flaw = flaw
    self.uncommitted = uncommitted
    self.base = base
  }

  // MARK: Writing

  func apply(_ changes: StoreChanges) throws(SyncError) {
    var changes = changes
    switch flaw {
    case .showsUncommitted: uncommitted?.add(changes.put.count)
    case .updatesNoVersions: changes.versions = []
    case .forgetsDeletionsOfUnknownRecords:
      let states = try base.states(of: changes.deleted)
      changes.deleted = zip(changes.deleted, states).filter { $0.1 != nil }.map(\.0)
    case .showsPendingDeletions:
      let pending = changes.pendingDeletions
      changes.deleted.removeAll { pending.contains($0.id) }
    case .losesReasons: for index in changes.withheld.indices { changes.withheld[index].reason = "" }
    case .marksNothing: changes.marked = []
    case .clearsAllMarks where !changes.unmarkedTypes.isEmpty:
      changes.unmarkedTypes = try base.registeredEntities().map(\.type)
    case .keepsReplacedEdits:
      let known = Set(try base.outbox(for: changes.queued.map(\.id)).map(\.id))
      changes.queued.removeAll { known.contains($0.id) }
    case .forgetsYoungConflicts where changes.forgottenConflicts != nil:
      changes.forgottenConflicts = Timestamp(microseconds: .max)
    default: break
    }
    try base.apply(changes)
  }

  // MARK: Records

  func records(_ query: Query) throws(SyncError) -> [Record] {
    switch flaw {
    case .sortsKeysAsStrings: return try base.records(query).sorted { $0.id.key < $1.id.key }
    case .showsWhatIsWithheld:
      let entries = try base.withheld(
        query.type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: 9)
      return try base.records(query)
        + entries.compactMap { if case .upsert(let record) = $0.change { record } else { nil } }
    case .roundsIntegers:
      guard case .equal(let field, .integer(let value))? = query.condition else {
        return try base.records(query)
      }
      var rounded = query
      rounded.condition = .isIn(field, [.double(Double(value)), .integer(value)])
      return try base.records(rounded)
    default: return try base.records(query)
    }
  }

  func count(_ query: Query) throws(SyncError) -> Int {
    flaw == .countsUpToTheLimit ? try base.records(query).count : try base.count(query)
  }

  func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?] {
    var states = try base.states(of: ids, comparing: payloads)
    if flaw == .seesPayloadsAlike, !payloads.isEmpty {
      for index in states.indices { states[index]?.hasSamePayload = true }
    }
    return states
  }

  func rows(
    _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
  ) throws(SyncError) -> [StoredRow] {
    let rows = try base.rows(type, selection, after: key, limit: limit)
    return flaw == .listsLiveRowsOnly ? rows.filter { $0.record != nil } : rows
  }

  func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
    var found = try base.referenced(among: ids)
    guard flaw == .countsOwnReferences else { return found }
    for case let record? in try base.records(withIDs: ids) {
      let entity = try base.registeredEntities().first { $0.type == record.id.type }
      let values = zip(entity?.references ?? [], record.fields)
      let refersToItself = values.contains { reference, value in
        reference.isOrdered && reference.target == record.id.type && value == .string(record.id.key)
      }
      if refersToItself { found.insert(record.id) }
    }
    return found
  }

  func counts(_ type: RecordType, rows: Bool) throws(SyncError) -> TypeCounts {
    var counts = try base.counts(type, rows: rows)
    guard flaw == .countsAllEdits else { return counts }
    counts.pending = 0
    for entity in try base.registeredEntities() {
      counts.pending += try base.counts(entity.type, rows: false).pending
    }
    return counts
  }

  func changes(after position: StorePosition?) throws(SyncError) -> CommittedChanges {
    var changes = try base.changes(after: position)
    switch (flaw, changes.scope) {
    case (.observesOneChange, .records(let ids)): changes.scope = .records(Array(ids.prefix(1)))
    case (.neverAsksToReload, .everything): changes.scope = .records([])
    default: break
    }
    return changes
  }

  // MARK: Withheld changes

  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    let kinds = flaw == .listsByOneKindOnly ? Set(kinds.prefix(1)) : kinds
    return try base.withheld(type, kinds: kinds, after: after, limit: limit)
  }

  func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    let found = try base.withheld(relation, ids, kinds: kinds, after: after, limit: limit)
    switch (flaw, relation) {
    case (.findsWhatWaitsAlone, .referringTo): return found.filter { !$0.waitsFor.isEmpty }
    case (.forgetsNewReferences, .referringTo):
      let isAsItWas = try base.registeredEntities().contains { $0.references.contains { $0.field == "away" } }
      return isAsItWas ? found : []
    case (.parksForever, .waitingFor): return []
    default: return found
    }
  }

  // MARK: Kept values

  func value(forKey key: String) throws(SyncError) -> [UInt8]? {
    let value = try base.value(forKey: key)
    return flaw == .mixesEmptyWithNil && value?.isEmpty == true ? nil : value
  }

  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
    let keys = try base.keys(withPrefix: prefix, after: after, limit: limit)
    return flaw == .findsNamesByCharacters ? keys.filter { $0.hasPrefix(prefix) } : keys
  }
}
