import InMemoryAdapters
import SyncModels
import SyncPorts

/// A transaction that breaks its store's promise, and forwards all other calls.
final class FlawedTransaction: ForwardingTransaction {
  let flaw: FlawedStore.Flaw
  let base: any StoreTransaction
  private let uncommitted: UncommittedCopies?
  var readGroups: [String: [Record]] = [:]
  /// The rounds that are written after the body.
  private(set) var waiting: [StoreChanges] = []
  /// The values from before the transaction, if it sees those.
  private var values: [String: [UInt8]]?
  private var readValues = 0
  private var lookedUp: [RecordID] = []
  private var announced: [[RecordID]] = []

  init(
    flaw: FlawedStore.Flaw, base: any StoreTransaction, uncommitted: UncommittedCopies? = nil,
    values: [String: [UInt8]]? = nil
  ) {
    self.flaw = flaw
    self.values = values
    self.uncommitted = uncommitted
    self.base = base
  }

  // MARK: Writing

  func apply(_ changes: StoreChanges) throws(SyncError) {
    var changes = changes
    var (earlier, later) = (StoreChanges(), StoreChanges())
    switch flaw {
    case .writesAtTheEnd: return waiting.append(changes)
    case .writesUnknownTypes:
      let known = try base.registeredEntities().map(\.type)
      changes.put.removeAll { !known.contains($0.id.type) }
    case .clearsMarksLast: swap(&changes.unmarkedTypes, &later.unmarkedTypes)
    case .releasesLast: swap(&changes.released, &later.released)
    case .dequeuesLast: swap(&changes.dequeued, &later.dequeued)
    case .marksFirst:
      (earlier.unmarkedTypes, changes.unmarkedTypes) = (changes.unmarkedTypes, [])
      swap(&changes.marked, &earlier.marked)
    case .forgetsConflictsFirst: swap(&changes.forgottenConflicts, &earlier.forgottenConflicts)
    case .losesEpochs: for place in changes.put.indices { changes.put[place].version.epoch = 0 }
    case .keepsGreaterVersions:
      let states = try base.states(of: changes.put)
      changes.put = zip(changes.put, states).filter { copy, state in
        state.map { $0.version.sequence <= copy.version.sequence } ?? true
      }.map(\.0)
    case .losesVersionsOfDeletions:
      changes.deleted = changes.deleted.map { Tombstone(id: $0.id, version: .unversioned) }
    case .marksByPlace where !lookedUp.isEmpty:
      changes.marked = Array(lookedUp.prefix(changes.marked.count))
    case .tidiesPayloads:
      for place in changes.put.indices {
        changes.put[place].payload = Payload(
          changes.put[place].payload.bytes.filter { $0 != UInt8(ascii: " ") })
      }
    case .writesAThousandAtMost: changes.put = Array(changes.put.prefix(1000))
    case .keepsFirstEntries:
      let known = Set(try base.withheld(for: changes.withheld.map(\.key)).map(\.key))
      changes.withheld.removeAll { known.contains($0.key) }
    case .losesMarksOfWrittenRecords: try loseMarks(of: changes.put.map(\.id), in: &changes)
    case .losesMarksOfDeletedRecords: try loseMarks(of: changes.deleted.map(\.id), in: &changes)
    case .rewritesOthersForNothing:
      for gone in try base.absent(among: changes.deleted.map(\.id)) {
        changes.put += try base.records(Query(gone.type, limit: 1))
      }
    case .losesReasonsOfConflicts:
      for place in changes.conflicts.indices { changes.conflicts[place].reason = "" }
    case .readsBeforeItsTurn: for value in changes.values { values?[value.key] = value.bytes }
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
    case .keepsRemovedConflicts: changes.removedConflicts = []
    default: break
    }
    for round in [earlier, changes, later] { try base.apply(round) }
  }

  /// Removes the marks of some records, and of no others.
  private func loseMarks(of ids: [RecordID], in changes: inout StoreChanges) throws(SyncError) {
    for type in Set(ids.map(\.type)) {
      let rows = try base.rows(type, .all, after: nil, limit: 99)
      changes.unmarkedTypes.append(type)
      changes.marked += rows.filter { $0.isMarked && !ids.contains($0.id) }.map(\.id)
    }
  }

  func readAhead(_ pages: [[RecordChange]]) { announced = pages.map { $0.compactMap(\.id) } }

  // MARK: Records

  func storeIdentity() throws(SyncError) -> String {
    flaw == .hasTheNameOfAll ? "store" : try base.storeIdentity()
  }

  func registeredEntities() throws(SyncError) -> [Entity] {
    let entities = try base.registeredEntities()
    return flaw == .listsOneDeclaration ? Array(entities.prefix(1)) : entities
  }

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
    case .findsNothingInUnknownTypes:
      return try base.registeredEntities().contains { $0.type == query.type } ? try base.records(query) : []
    case .readsFirstMembers:
      guard case .equal(let field, .integer(let value))? = query.condition else {
        return try base.records(query)
      }
      return try base.records(Query(query.type)).filter { record in
        let text = String(decoding: record.payload.bytes, as: UTF8.self)
        let members = text.dropFirst().dropLast().split(separator: ",")
        return members.first { $0.hasPrefix("\"\(field)\":") }?.hasSuffix(":\(value)") ?? false
      }
    default: return try base.records(flawed(query))
    }
  }

  func count(_ query: Query) throws(SyncError) -> Int {
    switch flaw {
    case .countsUpToTheLimit: try base.records(query).count
    case .countsDeletedRecords: try base.rows(query.type, .all, after: nil, limit: 99).count
    default: try base.count(flawed(query))
    }
  }

  private func flawed(_ query: Query) -> Query {
    var query = query
    switch (flaw, query.condition) {
    case (.findsFirstMembersOnly, .isIn(let field, let values)):
      query.condition = .isIn(field, Array(values.prefix(1)))
    case (.ignoresUpperBounds, .within(let field, let lower, _)):
      query.condition = .within(field, lower: lower, upper: nil)
    case (.comparesTextsByBytes, .meaning(let field, _, let lower, let upper)):
      query.condition = .within(field, lower: lower, upper: upper)
    case (.joinsAllByAny, .all(let conditions)): query.condition = .any(conditions)
    case (.missesNullsInNegations, .not(let condition)):
      query.condition = .all([.not(condition)] + condition.fields.map { .not(.equal($0, .null)) })
    case (.dropsQuotesInNames, .equal(let field, let value)):
      query.condition = .equal(FieldName(field.rawValue.filter { $0 != "\"" }), value)
    case (.sortsInOneDirection, _):
      for place in query.order.indices { query.order[place].isDescending = false }
    case (.sortsByOneField, _): query.order = Array(query.order.prefix(1))
    default: break
    }
    return query
  }

  func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?] {
    let found = try base.records(withIDs: ids)
    return flaw == .leavesOutUnknownRecords ? found.filter { $0 != nil } : found
  }

  func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?] {
    var ids = ids
    lookedUp += ids
    if flaw == .trustsAnnouncements, let page = announced.first, page.count == ids.count {
      announced.removeFirst()
      ids = page
    }
    var states = try base.states(of: ids, comparing: payloads)
    if flaw == .takesKnownForLive { for index in states.indices { states[index]?.isDeleted = false } }
    if flaw == .seesPayloadsAlike, !payloads.isEmpty {
      for index in states.indices { states[index]?.hasSamePayload = true }
    }
    return states
  }

  func rows(
    _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
  ) throws(SyncError) -> [StoredRow] {
    let rows = try base.rows(type, selection, after: key, limit: limit)
    switch flaw {
    case .listsLiveRowsOnly: return rows.filter { $0.record != nil }
    case .listsRowsByCharacters: return rows.filter { row in key.map { row.id.key > $0 } ?? true }
    default: return rows
    }
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
    let found = try base.withheld(type, kinds: kinds, after: after, limit: limit)
    return flaw == .listsEntriesBackwards ? found.reversed() : found
  }

  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
    let found = try base.withheld(for: keys)
    guard flaw == .findsEntriesOfRecordsOnly else { return found }
    return found.filter { if case .record = $0.key { true } else { false } }
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
    case (.waitsFromTheStart, .waitingFor):
      return try base.withheld(relation, ids, kinds: kinds, after: nil, limit: limit)
    default: return found
    }
  }

  // MARK: Kept values

  func value(forKey key: String) throws(SyncError) -> [UInt8]? {
    readValues += 1
    if flaw == .remembersAThousandValues, readValues > 1000 { return nil }
    if let values { return values[key] }
    let value = try base.value(forKey: key)
    return flaw == .mixesEmptyWithNil && value?.isEmpty == true ? nil : value
  }

  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
    let keys = try base.keys(withPrefix: prefix, after: after, limit: limit)
    return flaw == .findsNamesByCharacters ? keys.filter { $0.hasPrefix(prefix) } : keys
  }
}
