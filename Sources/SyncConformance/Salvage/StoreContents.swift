import SyncModels
import SyncPorts

/// Everything that a store's port shows, with entries of every kind.
struct StoreContents: Equatable, Sendable {
  var entries: [SalvagePart: Set<SalvagedEntry>] = [:]
  var withheld: Set<WithheldChange> = []

  /// The number of teams, and of games.
  static let count = 900
  private static let limit = 10 * count

  /// Registers the bench's types, and writes entries of every kind.
  static func fill(_ store: any LocalStore) async throws {
    try await store.register(try StoreBench.schema())
    var records = try (0..<count).flatMap { number in
      [
        try StoreBench.copy("teams", "t\(number)", #"{"city":"\#(number % 7)"}"#),
        try StoreBench.copy("games", "g\(number)", #"{"code":"c\#(number)","home":"t\#(number)"}"#),
      ]
    }
    records.append(try StoreBench.copy("venues", "e\u{301} /", #"{"é": 1.50 }"#, tag: "é", schema: 2))
    let aside = try StoreBench.copy("games", "aside", #"{"home":"x"}"#)
    let (edits, conflicts) = (try edits(), try conflicts())
    try await store.write(.app) { [records] (transaction) throws(SyncError) in
      try transaction.put(records)
      try transaction.delete([StoreBench.tombstone("games", "g7")])
      try transaction.queue(edits)
      try transaction.log(conflicts)
      for number in 0..<count {
        try transaction.setValue(Array("\(number)".utf8), forKey: "app/\(number)")
      }
      try transaction.setValue([0, 0xFF, 0x80], forKey: "bytes")
      try transaction.setValue([], forKey: "empty")
      try transaction.withhold([
        StoreBench.entry(
          .record(StoreBench.game("aside")), .parked, .upsert(aside), waitsFor: [StoreBench.team("x")])
      ])
    }
  }

  /// Many plain edits, and some that have every part.
  private static func edits() throws -> [OutboxEntry] {
    var edits = (10..<count / 2).map {
      StoreBench.pending(StoreBench.game("g\($0)"), at: StoreBench.stamp(Int64($0)))
    }
    edits += (10..<40).map { StoreBench.pending(StoreBench.team("t\($0)"), at: StoreBench.stamp(Int64($0))) }
    var copy = try StoreBench.copy("games", "g1", #"{"home":"t1"}"#, version: 4, tag: "é", schema: 2)
    copy.fields = []
    let sent = StoreBench.edit(#"{"sent":1}"#, at: StoreBench.stamp(5, 9, by: "other"))
    edits += [
      StoreBench.pendingDeletion(StoreBench.game("g0"), at: StoreBench.stamp(1)),
      OutboxEntry(
        id: copy.id, edit: StoreBench.edit(#"{"v": 1.50}"#, at: StoreBench.stamp(6), schema: 3),
        base: .copy(copy), sent: sent, state: .postponed(until: Timestamp(milliseconds: 9)), attempts: 3,
        leaves: [StoreBench.team("t1")]),
      OutboxEntry(
        id: StoreBench.game("e\u{301}"), edit: StoreBench.edit("{}", at: StoreBench.stamp(7)),
        base: .deleted(StoreBench.tombstone("games", "e\u{301}", tag: "x")),
        state: .refused(reason: "because é", at: Timestamp(milliseconds: 7)),
        author: .rebuild(
          .init(lastWrite: StoreBench.stamp(2, 1, by: "é"), pass: 3, winner: StoreBench.game("g2")))),
    ]
    return edits
  }

  private static func conflicts() throws -> [Conflict] {
    var conflicts = (0..<count).map { number in
      StoreBench.conflict(StoreBench.game("g\(number)"), settledAt: Int64(number))
    }
    conflicts[3].local = StoreBench.edit(#"{"v": 2}"#, at: StoreBench.stamp(4), schema: 2)
    var remote = try StoreBench.copy("games", "g3", #"{"v":3}"#, version: 5, tag: "t")
    remote.fields = []
    conflicts[3].remote = .upsert(remote)
    conflicts[3].base = Payload(Array(#"{"v":1}"#.utf8))
    conflicts[3].winner = .merged
    return conflicts
  }

  /// Reads everything from a store.
  init(of store: any LocalStore) async throws {
    self = try await store.read { (snapshot) throws(SyncError) in try StoreContents(in: snapshot) }
  }

  private init(in snapshot: any StoreSnapshot) throws(SyncError) {
    let entities = try snapshot.registeredEntities()
    entries[.declarations] = Set(entities.map { .declaration($0) })
    entries[.conflicts] = Set(
      try snapshot.conflicts(nil, before: nil, limit: Self.limit).map { .conflict($0) })
    for key in try snapshot.keys(withPrefix: "", after: nil, limit: Self.limit) {
      guard let bytes = try snapshot.value(forKey: key) else { continue }
      entries[.values, default: []].insert(.value(key: key, bytes: bytes))
    }
    for entity in entities {
      let edits = try snapshot.outbox(entity.type, after: nil, limit: Self.limit)
      entries[.outbox, default: []].formUnion(edits.map { .edit($0) })
      entries[.records(entity)] = Set(try snapshot.records(Query(entity.type)).map { .record($0) })
      withheld.formUnion(
        try snapshot.withheld(
          entity.type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: Self.limit))
    }
  }

  /// The entries of a part, as far as a salvage uses them.
  func essence(of part: SalvagePart) -> Set<SalvagedEntry> { Set((entries[part] ?? []).map(\.essence)) }
}

extension SalvagedEntry {
  /// The entry as far as a salvage uses it.
  var essence: SalvagedEntry {
    switch self {
    case .record(var record):
      (record.version, record.entityTag, record.fields) = (.unversioned, nil, [])
      return .record(record)
    case .conflict(var conflict):
      conflict.number = 0
      return .conflict(conflict)
    case .declaration, .edit, .value: return self
    }
  }
}
