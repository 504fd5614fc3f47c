import SyncCore
import SyncJSON
import SyncModels
import SyncPorts

/// The complete state of a world's store at one instant.
struct StoreView: Equatable, Sendable {
  private(set) var live: [RecordID: Record] = [:]
  private(set) var states: [RecordID: StoredState] = [:]
  private(set) var withheld: [WithheldChange.Key: WithheldChange] = [:]
  private(set) var checkpoints: [RecordType: Checkpoint] = [:]
  private(set) var outbox: [RecordID: OutboxEntry] = [:]
  /// The newest conflicts of the log, the newest first.
  private(set) var conflicts: [Conflict] = []
  /// The progress of each type's rebuild.
  private(set) var rebuilds: [RecordType: Rebuild] = [:]
  /// The types that need a full listing, because an edit was given up.
  private(set) var owedListings: Set<RecordType> = []
  /// Records that a changed declaration has not withheld, because of edits.
  private(set) var left: Set<RecordID> = []

  /// The records of each atomic group, by the key of the value that each of them has.
  private var groups: [String: [RecordID]] = [:]

  /// The records whose edits belong to the group of a record's edit, and the record itself.
  func group(of id: RecordID) -> [RecordID] { groups[Self.groups + "\(id)"] ?? [id] }

  /// The progress of a rebuild, as far as a world checks it.
  struct Rebuild: Equatable, Sendable, Decodable {
    struct Counts: Equatable, Sendable, Decodable { var losers: Int }
    var version: Int
    var isDone: Bool
    var counts: Counts
  }

  init() {}

  /// Reads the complete state.
  ///
  /// - Parameter hasEdits: Whether the world has local edits. Otherwise their tables are not read.
  init(
    _ snapshot: any StoreSnapshot, types: [RecordType], ids: [RecordID], hasEdits: Bool
  ) throws(SyncError) {
    let registered = Set(try snapshot.registeredEntities().map(\.type))
    let types = types.filter(registered.contains)
    if hasEdits {
      for type in types {
        for entry in try snapshot.outbox(type, after: nil, limit: 10_000) { outbox[entry.id] = entry }
      }
      try readConflicts(snapshot)
      try readLeft(snapshot)
      for type in types {
        try readRebuild(of: type, snapshot)
        try readOwedListing(of: type, snapshot)
      }
      for key in try snapshot.keys(withPrefix: Self.groups, after: nil, limit: 10_000) {
        try readGroup(key, snapshot)
      }
    }
    for type in types {
      for record in try snapshot.records(Query(type)) { live[record.id] = record }
      let kinds = Set(WithheldChange.Kind.allCases)
      for entry in try snapshot.withheld(type, kinds: kinds, after: nil, limit: 10_000) {
        withheld[entry.key] = entry
      }
      checkpoints[type] = try snapshot.checkpoint(for: type)
    }
    for id in ids where registered.contains(id.type) { states[id] = try snapshot.state(of: id) }
  }

  /// Reads the state that a transaction may have changed, and keeps the rest.
  ///
  /// - Parameter ids: The records whose states are read.
  mutating func update(
    _ touched: Touched, from snapshot: any StoreSnapshot, ids: Set<RecordID>, hasEdits: Bool
  ) throws(SyncError) {
    let records = Array(touched.records)
    if !records.isEmpty {
      for (id, record) in zip(records, try snapshot.records(withIDs: records)) { live[id] = record }
    }
    for id in records where ids.contains(id) { states[id] = try snapshot.state(of: id) }
    if !touched.unmarked.isEmpty {
      for id in ids where touched.unmarked.contains(id.type) { states[id] = try snapshot.state(of: id) }
    }
    if !touched.withheld.isEmpty {
      for key in touched.withheld { withheld[key] = nil }
      for entry in try snapshot.withheld(for: Array(touched.withheld)) { withheld[entry.key] = entry }
    }
    for type in touched.checkpoints { checkpoints[type] = try snapshot.checkpoint(for: type) }
    guard hasEdits else { return }
    if !touched.outbox.isEmpty {
      for id in touched.outbox { outbox[id] = nil }
      for entry in try snapshot.outbox(for: Array(touched.outbox)) { outbox[entry.id] = entry }
    }
    if touched.changesConflicts { try readConflicts(snapshot) }
    if touched.values.contains(Self.declarationsKey) { try readLeft(snapshot) }
    for key in touched.values where key.hasPrefix(Self.groups) { try readGroup(key, snapshot) }
    for type in Self.rebuilt where touched.values.contains(Self.rebuildKey(type)) {
      try readRebuild(of: type, snapshot)
    }
    for type in checkpoints.keys where touched.values.contains(Self.owedListingKey(type)) {
      try readOwedListing(of: type, snapshot)
    }
  }

  private static let rebuilt: [RecordType] = ["teams", "games"]
  private static let declarationsKey = "declarations"
  private static let groups = "group/"
  private static func rebuildKey(_ type: RecordType) -> String { "rebuild/\(type)" }
  private static func owedListingKey(_ type: RecordType) -> String { "listing-gap/\(type)" }

  private mutating func readConflicts(_ snapshot: any StoreSnapshot) throws(SyncError) {
    conflicts = try snapshot.conflicts(nil, before: nil, limit: 40)
  }

  private mutating func readGroup(_ key: String, _ snapshot: any StoreSnapshot) throws(SyncError) {
    struct Group: Decodable { var members: [RecordID] }
    let bytes = try snapshot.value(forKey: key)
    groups[key] = bytes.flatMap { try? JSONByteDecoder().decode(Group.self, from: $0[...]).members }
  }

  private mutating func readLeft(_ snapshot: any StoreSnapshot) throws(SyncError) {
    struct Declarations: Decodable { var left: Set<RecordID> }
    let bytes = try snapshot.value(forKey: Self.declarationsKey)
    left = bytes.flatMap { try? JSONByteDecoder().decode(Declarations.self, from: $0[...]).left } ?? []
  }

  private mutating func readRebuild(
    of type: RecordType, _ snapshot: any StoreSnapshot
  ) throws(SyncError) {
    let bytes = try snapshot.value(forKey: Self.rebuildKey(type))
    rebuilds[type] = bytes.flatMap { try? JSONByteDecoder().decode(Rebuild.self, from: $0[...]) }
  }

  private mutating func readOwedListing(
    of type: RecordType, _ snapshot: any StoreSnapshot
  ) throws(SyncError) {
    if try snapshot.value(forKey: Self.owedListingKey(type)) == [1] {
      owedListings.insert(type)
    } else {
      owedListings.remove(type)
    }
  }

  /// The record that a rebuild's deletion waits for.
  ///
  /// `nil` for other edits, and for a group that the app has ended.
  func winner(over entry: OutboxEntry) -> RecordID? {
    var entry = entry
    // A record has lost once. A library that deletes a winner may form a circle.
    for _ in 0...outbox.count {
      guard case .rebuild(let rebuilt) = entry.author, entry.edit.content == .deletion else { return nil }
      guard let winner = rebuilt.winner, let lost = outbox[winner], case .rebuild = lost.author,
        lost.edit.content == .deletion
      else { return rebuilt.winner }
      entry = lost
    }
    return entry.id
  }

  /// The same state, with the fields of all records under a schema.
  func lifted(by schema: SyncSchema) -> StoreView {
    func lifted(_ record: Record) -> Record {
      var record = record
      record.fields = schema[record.id.type].flatMap { try? $0.fields(of: record.payload) } ?? []
      return record
    }
    var view = self
    view.live = live.mapValues(lifted)
    for (key, entry) in withheld {
      if case .upsert(let record) = entry.change { view.withheld[key]?.change = .upsert(lifted(record)) }
    }
    return view
  }

  /// The records that a changed declaration has rightly left: edited ones, and what they need.
  func staying(in schema: SyncSchema) -> Set<RecordID> {
    var staying = Set(outbox.keys)
    var open = staying.compactMap { live[$0] }
    while let record = open.popLast() {
      for target in schema[record.id.type]?.requiredReferences(of: record) ?? []
      where staying.insert(target).inserted {
        if let next = live[target] { open.append(next) }
      }
    }
    return staying.intersection(left)
  }

  /// The references of live records to records that are not live.
  func dangling(in schema: SyncSchema, except explained: Set<RecordID> = []) -> [Difference] {
    var found: [Difference] = []
    for record in live.values where !explained.contains(record.id) {
      guard let entity = schema[record.id.type] else { continue }
      for target in entity.requiredReferences(of: record) where live[target] == nil {
        found.append(Difference("\(record.id) refers to \(target)", about: [record.id, target]))
      }
    }
    return found.sorted { $0.description < $1.description }
  }
}
