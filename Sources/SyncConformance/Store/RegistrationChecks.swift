import SyncModels
import SyncPorts

/// The effects of registering a schema.
enum RegistrationChecks {
  static func unregisteredTypeIsRefused(_ bench: StoreBench) async throws {
    try await expect(.invalidConfiguration, "A query of a type that is not registered is refused.") {
      () throws(SyncError) in _ = try await bench.records(Query("nobodys"))
    }
    try await expect(.invalidConfiguration, "A count of a type that is not registered is refused.") {
      () throws(SyncError) in
      _ = try await bench.read { snapshot throws(SyncError) in try snapshot.count(Query("nobodys")) }
    }
  }

  static func unregisteredTypeIsNotWritten(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("nobodys", "n")
    var conflict = StoreBench.conflict(StoreBench.game("g"), settledAt: 1)
    conflict.remote = .malformed(MalformedRecord(type: "games", key: "g", bytes: Payload([]), reason: "r"))
    let (gone, malformed) = (StoreBench.tombstone("nobodys", "n"), conflict)
    let refused: [(sentence: String, set: @Sendable (inout StoreChanges) -> Void)] = [
      ("A copy of a type that is not registered is refused.", { $0.put = [copy] }),
      ("A deletion of a type that is not registered is refused.", { $0.deleted = [gone] }),
      ("Marks of a type that is not registered are not cleared.", { $0.unmarkedTypes = ["nobodys"] }),
      ("A conflict whose remote side is malformed is refused.", { $0.conflicts = [malformed] }),
    ]
    for (sentence, set) in refused {
      try await expect(.invalidConfiguration, sentence) { () throws(SyncError) in
        try await bench.write { transaction throws(SyncError) in
          try transaction.setValue([1], forKey: "k")
          try transaction.apply(set)
        }
      }
    }
    let value = try await bench.read { snapshot throws(SyncError) in try snapshot.value(forKey: "k") }
    try expect(value, equals: nil, "A body whose round is refused leaves nothing.")
  }

  static func registeringAgainChangesNothing(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g", #"{"v":1}"#)
    try await bench.put(copy)
    let entities = try await bench.read { snapshot throws(SyncError) in try snapshot.registeredEntities() }
    try await bench.store.register(try StoreBench.schema())
    try expect(
      try await bench.record(copy.id), equals: copy, "Registering again leaves records as they were.")
    let again = try await bench.read { snapshot throws(SyncError) in try snapshot.registeredEntities() }
    try expect(again, equals: entities, "Registering again leaves the declarations as they were.")
  }

  static func newFieldIsFilledIn(_ bench: StoreBench) async throws {
    try await bench.put(
      StoreBench.copy("venues", "a", #"{"size":10,"name":"x"}"#),
      StoreBench.copy("venues", "b", #"{"size":30}"#), StoreBench.copy("venues", "c", #"{"size":20}"#))
    try await bench.delete(StoreBench.tombstone("venues", "c"))
    let entity = Entity("venues", indexes: ["name", "size"])
    try await bench.store.register(try SyncSchema(StoreBench.games, entity, StoreBench.teams))
    let found = try await bench.records(
      Query("venues", where: .atLeast("size", 10), order: [.descending("size")]))
    try expect(
      found.map(\.id.key), equals: ["b", "a"], "A field declared later is found in records from before.")
    try expect(
      found.map(\.fields), equals: [[.null, 30], ["x", 10]],
      "Records have a value for each of the fields declared now, in their order.")
  }

  static func droppedFieldIsGone(_ bench: StoreBench) async throws {
    try await bench.put(StoreBench.copy("teams", "t", #"{"city":"Bern","parent":"p"}"#))
    let entity = Entity("teams", indexes: ["city"])
    try await bench.store.register(try SyncSchema(StoreBench.games, StoreBench.venues, entity))
    try expect(
      try await bench.record(StoreBench.team("t"))?.fields, equals: ["Bern"],
      "Records have a value for each of the fields declared now, in their order.")
    let referenced = try await bench.write { transaction throws(SyncError) in
      try transaction.referenced(among: [StoreBench.team("p")])
    }
    try expect(referenced, equals: [], "A reference that is no longer declared does not count.")
  }

  /// What a store keeps beside live records.
  private struct KeptState: Equatable {
    var entries: [WithheldChange]
    var outbox: [OutboxEntry]
    var conflicts: [Conflict]
    var value: [UInt8]?
    var states: [StoredState?]
  }

  static func registrationKeepsTheRest(_ bench: StoreBench) async throws {
    let ids = ["a", "b", "gone"].map(StoreBench.game)
    try await bench.put(StoreBench.copy("games", "a", #"{"w":"x"}"#), StoreBench.copy("games", "b"))
    try await bench.delete(StoreBench.tombstone("games", "gone"))
    try await bench.withhold(StoreBench.entry(.record(StoreBench.game("aside")), waitsFor: [ids[0]]))
    try await bench.queue(StoreBench.pending(ids[1], at: StoreBench.stamp(1)))
    try await bench.log(StoreBench.conflict(ids[0], settledAt: 1))
    try await bench.write { transaction throws(SyncError) in
      try transaction.mark([ids[0], ids[2]])
      try transaction.setValue([1], forKey: "k")
    }
    func kept() async throws -> KeptState {
      try await bench.read { snapshot throws(SyncError) in
        KeptState(
          entries: try snapshot.withheld("games", kinds: [.parked], after: nil, limit: 9),
          outbox: try snapshot.outbox("games", after: nil, limit: 9),
          conflicts: try snapshot.conflicts("games", before: nil, limit: 9),
          value: try snapshot.value(forKey: "k"), states: try snapshot.states(of: ids, comparing: []))
      }
    }
    let before = try await kept()
    for entity in [
      Entity("games", references: [.to("venues", by: "home")], naturalKey: NaturalKey("w"), indexes: ["w"]),
      Entity("games"), StoreBench.games,
    ] {
      try await bench.store.register(try SyncSchema(entity, StoreBench.venues, StoreBench.teams))
      try expect(
        try await kept(), equals: before,
        "A changed declaration leaves edits, conflicts, values, marks, deletions and withheld changes.")
    }
  }

  static func undeclaredTypeStays(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("venues", "a", #"{"size":10}"#)
    try await bench.put(copy)
    try await bench.store.register(try SyncSchema(Entity("clubs")))
    let entities = try await bench.read { snapshot throws(SyncError) in try snapshot.registeredEntities() }
    try expect(
      entities, equals: [Entity("clubs"), StoreBench.games, StoreBench.teams, StoreBench.venues],
      "Declarations stay when a schema lacks them, and come by type.")
    try await bench.store.register(try StoreBench.schema())
    try expect(
      try await bench.record(copy.id), equals: copy, "Records of a type that was not declared meanwhile stay."
    )
  }

  static func storeHasItsOwnIdentity(_ bench: StoreBench) async throws {
    let identity = try await bench.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
    try expect(!identity.isEmpty, "A store has a name.")
    let again = try await bench.harness.open()
    let other = try await bench.harness.openAnother()
    let same = try await again.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
    let another = try await other.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
    try expect(same, equals: identity, "A store keeps its name.")
    try expect(another != identity, "Another store has another name.")
  }
}
