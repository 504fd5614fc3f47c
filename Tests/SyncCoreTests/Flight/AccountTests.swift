import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A store and the account that it belongs to", .timeLimit(.minutes(10)))
struct AccountTests {
  private let clock = ManualClock()
  private static let entities = [
    Entity("meters"), Entity("readings", references: [.to("meters", by: "meter")]),
  ]
  private static let seen = ExpiringField<String>("seen")

  private func engine(
    _ store: InMemoryStore, _ remote: InMemoryRemote, account: String? = nil
  ) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema(Self.entities), store: store, source: remote, sink: remote, clock: clock,
      account: account)
  }

  private func remote(_ user: String, records: Int) -> InMemoryRemote {
    let remote = InMemoryRemote(identity: user, configuration: .privateZone, clock: clock)
    for number in 0..<records { remote.upsert("meters", "m\(number)", #"{"name":"of \#(user)"}"#) }
    if records > 0 { remote.upsert("readings", "r", #"{"meter":"m0"}"#) }
    return remote
  }

  private func keys(_ store: InMemoryStore) -> [String] {
    Self.entities.flatMap { store.records(of: $0.type) }.map(\.id.key).sorted()
  }

  private func isCode(_ code: SyncError.Code) -> (any Error) -> Bool { { ($0 as? SyncError)?.code == code } }

  /// Neither too many deletions nor an empty listing is a surprise.
  @Test(arguments: [0, 1, 200]) func losesWhatAnotherRemoteListed(records: Int) async throws {
    let store = InMemoryStore(leaseClock: { [clock] in clock.timestamp })
    _ = try await engine(store, remote("one", records: 150)).sync()
    #expect(keys(store).count == 151)
    let two = remote("two", records: records)
    let engine = try await engine(store, two)
    for _ in 0..<3 { _ = try await engine.sync() }
    #expect(keys(store).count == (records == 0 ? 0 : records + 1))
    #expect(
      store.records(of: "meters").allSatisfy {
        String(decoding: $0.payload.bytes, as: UTF8.self).contains("two")
      })
    // The guard still guards what this remote has listed.
    for key in keys(store).dropLast(records / 10) where key != "r" { two.delete("meters", key) }
  }

  @Test func refusesAnotherOne() async throws {
    let store = InMemoryStore(leaseClock: { [clock] in clock.timestamp })
    let (one, two) = (remote("one", records: 3), remote("two", records: 1))
    let first = try await engine(store, one, account: "one")
    _ = try await first.sync()
    await #expect(
      performing: { _ = try await engine(store, two, account: "two") }, throws: isCode(.otherAccount))
    _ = try await engine(store, one, account: "one").sync()
    _ = try await engine(store, one).sync()

    // What the former account leaves comes back as a list, also what is in flight.
    try await first.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "m1")) { $0["name"] = Array("1".utf8)[...] }
    }
    one.behave(
      .loseAnswer(SyncError(.remoteUnavailable, during: "pushing", retryAfter: .seconds(900))),
      onNextPushes: 1)
    _ = try? await first.sync()
    try await first.edits.delete(RecordID(type: "meters", key: "m2"))
    try await first.expiring.set("kitchen", for: Self.seen, of: RecordID(type: "meters", key: "m1"))
    let left = try await SyncEngine.forgetEverything(in: store)
    #expect(left.map(\.id.key).sorted() == ["m1", "m2"])
    #expect(left.contains { $0.sent != nil })
    #expect(keys(store).isEmpty)

    let second = try await engine(store, two, account: "two")
    #expect(try await second.status().allSatisfy { $0.pending == 0 && $0.withheld.isEmpty })
    #expect(try await second.edits.conflicts().isEmpty)
    #expect(try await second.expiring.value(of: Self.seen, for: RecordID(type: "meters", key: "m1")) == nil)
    _ = try await second.sync()
    #expect(keys(store) == ["m0", "r"])
    #expect(two.records(of: "meters").count == 1)
    // Engines of the former account do no harm.
    await #expect(performing: { _ = try await first.sync() }, throws: isCode(.otherAccount))
    await #expect(
      performing: {
        try await first.edits.perform { (batch) throws(SyncError) in
          try batch.set(RecordID(type: "meters", key: "x")) { $0["name"] = Array("1".utf8)[...] }
        }
      }, throws: isCode(.otherAccount))
    // And back.
    #expect(try await SyncEngine.forgetEverything(in: store).isEmpty)
    clock.advance(by: .seconds(900))
    _ = try await engine(store, one, account: "one").sync()
    #expect(keys(store) == ["m0", "m1", "m2", "r"])
  }

  /// Of the records, and of the types, nothing is left: the log and what the app kept beside them.
  @Test(arguments: [true, false]) func forgetsWhatIsKeptBesideRecords(byType: Bool) async throws {
    let store = InMemoryStore(leaseClock: { [clock] in clock.timestamp })
    let one = remote("one", records: 3)
    let engine = try await engine(store, one)
    _ = try await engine.sync()
    let (meter, kept) = (
      RecordID(type: "meters", key: "m1"), RecordID(type: "readings", key: "r")
    )
    for id in [meter, kept] {
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(id) { $0["name"] = Array(#""here""#.utf8)[...] }
      }
      clock.advance(by: .seconds(60))
      one.upsert(id.type, id.key, #"{"meter":"m0","name":"there"}"#)
      try await engine.expiring.set("kitchen", for: Self.seen, of: id)
    }
    _ = try await engine.sync()
    #expect(Set(try await engine.edits.conflicts().map(\.id)) == [meter, kept])
    if byType {
      #expect(try await engine.forget(["meters", "readings"]).isEmpty)
      #expect(try await engine.edits.conflicts().isEmpty)
      #expect(try await engine.status().allSatisfy { $0.passes.lastSuccess == nil })
    } else {
      #expect(try await engine.forget(records: [meter]).isEmpty)
      #expect(try await engine.edits.conflicts().map(\.id) == [kept])
    }
    #expect(try await engine.expiring.value(of: Self.seen, for: meter) == nil)
    #expect(try await engine.expiring.value(of: Self.seen, for: kept) == (byType ? nil : "kitchen"))
  }

  @Test func isForgottenOnlyBetweenSyncs() async throws {
    let store = InMemoryStore(leaseClock: { [clock] in clock.timestamp })
    _ = try await engine(store, remote("one", records: 2)).sync()
    let lease = try await store.acquireLease(for: .seconds(60))
    await #expect(
      performing: { _ = try await SyncEngine.forgetEverything(in: store) },
      throws: isCode(.syncAlreadyInProgress))
    #expect(keys(store).count == 3)
    try await store.release(lease)
    #expect(try await SyncEngine.forgetEverything(in: store).isEmpty)
  }
}
