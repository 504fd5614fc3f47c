import SyncModels
import SyncPorts

/// A transaction that breaks the promise its store is to break, and passes everything else on.
final class FlawedTransaction: StoreTransaction {
  let flaw: FlawedStore.Flaw
  let base: any StoreTransaction
  private let uncommitted: UncommittedCopies?
  var readGroups: [DuplicateGroup: [Record]] = [:]

  init(flaw: FlawedStore.Flaw, base: any StoreTransaction, uncommitted: UncommittedCopies? = nil) {
    self.flaw = flaw
    self.uncommitted = uncommitted
    self.base = base
  }

  func storeIdentity() throws(SyncError) -> String { try base.storeIdentity() }
  func registeredEntities() throws(SyncError) -> [Entity] { try base.registeredEntities() }

  func records(_ query: Query) throws(SyncError) -> [Record] {
    switch flaw {
    case .sortsKeysAsStrings: return try base.records(query).sorted { $0.id.key < $1.id.key }
    case .showsWhatIsSetAside:
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

  func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?] { try base.records(withIDs: ids) }
  func state(of id: RecordID) throws(SyncError) -> StoredState? { try base.state(of: id) }
  func checkpoint(for type: RecordType) throws(SyncError) -> Checkpoint? { try base.checkpoint(for: type) }

  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    let kinds = flaw == .listsByOneKindOnly ? Set(kinds.prefix(1)) : kinds
    return try base.withheld(type, kinds: kinds, after: after, limit: limit)
  }

  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
    try base.withheld(for: keys)
  }

  func withheld(
    referringTo ids: [RecordID], kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    let found = try base.withheld(referringTo: ids, kinds: kinds, after: after, limit: limit)
    switch flaw {
    case .findsWhatWaitsAlone: return found.filter { !$0.waitsFor.isEmpty }
    case .forgetsNewReferences:
      let isAsItWas = try base.registeredEntities().contains { $0.references.contains { $0.field == "away" } }
      return isAsItWas ? found : []
    default: return found
    }
  }
  func withheldCounts(_ type: RecordType) throws(SyncError) -> [WithheldChange.Kind: Int] {
    try base.withheldCounts(type)
  }

  func value(forKey key: String) throws(SyncError) -> [UInt8]? {
    let value = try base.value(forKey: key)
    return flaw == .mixesEmptyWithNil && value?.isEmpty == true ? nil : value
  }

  func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
    let keys = try base.keys(withPrefix: prefix, after: after, limit: limit)
    return flaw == .findsNamesByCharacters ? keys.filter { $0.hasPrefix(prefix) } : keys
  }

  func unmarkedCount(_ type: RecordType) throws(SyncError) -> (unmarked: Int, live: Int) {
    try base.unmarkedCount(type)
  }
  func unmarked(_ type: RecordType, afterKey: String?, limit: Int) throws(SyncError) -> [Tombstone] {
    try base.unmarked(type, afterKey: afterKey, limit: limit)
  }

  func states(of copies: [Record]) throws(SyncError) -> [StoredState?] {
    var states = try base.states(of: copies)
    if flaw == .seesPayloadsAlike { for index in states.indices { states[index]?.hasSamePayload = true } }
    return states
  }

  func states(of tombstones: [Tombstone]) throws(SyncError) -> [StoredState?] {
    try base.states(of: tombstones)
  }
  func absent(among ids: [RecordID]) throws(SyncError) -> [RecordID] { try base.absent(among: ids) }

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

  func put(_ copies: [Record]) throws(SyncError) {
    if flaw == .showsUncommitted { uncommitted?.add(copies.count) }
    try base.put(copies)
  }
  func touch(_ copies: [Record]) throws(SyncError) {
    if flaw != .touchesNothing { try base.touch(copies) }
  }

  func delete(_ tombstones: [Tombstone]) throws(SyncError) {
    guard flaw == .forgetsDeletionsOfUnknownRecords else { return try base.delete(tombstones) }
    let states = try base.states(of: tombstones)
    try base.delete(zip(tombstones, states).filter { $0.1 != nil }.map(\.0))
  }

  func deletePending(_ tombstones: [Tombstone]) throws(SyncError) {
    if flaw != .showsPendingDeletions { try base.deletePending(tombstones) }
  }

  func withheld(_ entries: [WithheldChange]) throws(SyncError) {
    var entries = entries
    if flaw == .losesReasons { for index in entries.indices { entries[index].reason = "" } }
    try base.withheld(entries)
  }

  func release(_ keys: [WithheldChange.Key]) throws(SyncError) { try base.release(keys) }
  func parked(waitingFor ids: [RecordID], limit: Int) throws(SyncError) -> [WithheldChange] {
    flaw == .parksForever ? [] : try base.parked(waitingFor: ids, limit: limit)
  }
  func mark(_ ids: [RecordID]) throws(SyncError) {
    if flaw != .marksNothing { try base.mark(ids) }
  }

  func clearMarks(_ type: RecordType) throws(SyncError) {
    guard flaw == .clearsAllMarks else { return try base.clearMarks(type) }
    for entity in try base.registeredEntities() { try base.clearMarks(entity.type) }
  }

  func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    try base.setCheckpoint(checkpoint, for: type)
  }
  func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError) {
    try base.setValue(value, forKey: key)
  }
}
