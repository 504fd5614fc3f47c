import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Expiring values", .timeLimit(.minutes(10)))
struct ExpiryTests {
  private static let seen = ExpiringField<String>("seen")
  private static let count = ExpiringField<Int>("count", lifetime: .seconds(10))
  private static let meter = RecordID(type: "meters", key: "a/b")

  private func names(_ world: World) async throws -> Int {
    try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.keys(withPrefix: "expiring/", after: nil, limit: 1000).count
    }
  }

  @Test func readAsAbsentOnceTheirTimeIsOver() async throws {
    let world = try await World([Entity("meters")])
    let values = world.engine.expiring
    #expect(try await values.value(of: Self.seen, for: Self.meter) == nil)
    try await values.set("kitchen", for: Self.seen, of: Self.meter)
    try await values.set(3, for: Self.count, of: Self.meter)
    world.clock.advance(by: .seconds(9))
    #expect(try await values.value(of: Self.count, for: Self.meter) == 3)
    world.clock.advance(by: .seconds(1))
    #expect(try await values.value(of: Self.count, for: Self.meter) == nil)
    world.clock.advance(by: .seconds(24 * 3600 - 11))
    #expect(try await values.value(of: Self.seen, for: Self.meter) == "kitchen")
    world.clock.advance(by: .seconds(1))
    #expect(try await values.value(of: Self.seen, for: Self.meter) == nil)
  }

  @Test func areToldAsChangesOfTheirRecord() async throws {
    let world = try await World([Entity("meters")])
    var changes = world.engine.changes().makeAsyncIterator()
    try await world.engine.expiring.set("kitchen", for: Self.seen, of: Self.meter)
    #expect(try await changes.next() == .records([Self.meter]))
    try await world.engine.expiring.set(nil, for: Self.seen, of: Self.meter)
    #expect(try await changes.next() == .records([Self.meter]))
  }

  @Test func lastFromWhenTheyWereWrittenLast() async throws {
    let world = try await World([Entity("meters")])
    let values = world.engine.expiring
    try await values.set(1, for: Self.count, of: Self.meter)
    world.clock.advance(by: .seconds(8))
    try await values.set(2, for: Self.count, of: Self.meter)
    world.clock.advance(by: .seconds(8))
    #expect(try await values.value(of: Self.count, for: Self.meter) == 2)
    try await values.set(nil, for: Self.count, of: Self.meter)
    #expect(try await values.value(of: Self.count, for: Self.meter) == nil)
    #expect(try await names(world) == 0)
  }

  @Test func arePurgedByCleanUp() async throws {
    let world = try await World([Entity("meters")])
    for number in 1...7 {
      try await world.engine.expiring.set(
        number, for: Self.count, of: RecordID(type: "meters", key: "\(number)"))
    }
    try await world.engine.expiring.set("x", for: Self.seen, of: Self.meter)
    world.clock.advance(by: .seconds(10))
    let report = try await world.engine.cleanUp(CleanupPolicy(recordsAtOnce: 2))
    #expect(report.expired == 7)
    #expect(try await names(world) == 1)
    #expect(try await world.engine.expiring.value(of: Self.seen, for: Self.meter) == "x")
  }

  @Test func doNotLastBecauseAClockWasAhead() async throws {
    let world = try await World([Entity("meters")])
    world.clock.timestamp = world.clock.timestamp + .seconds(86_400)
    try await world.engine.expiring.set(1, for: Self.count, of: Self.meter)
    world.clock.timestamp = world.clock.timestamp - .seconds(86_400)
    #expect(try await world.engine.expiring.value(of: Self.count, for: Self.meter) == nil)
    #expect(try await world.engine.cleanUp(CleanupPolicy()).expired == 1)
  }

  @Test func ofAnotherTypeOfValueAreAbsent() async throws {
    let world = try await World([Entity("meters")])
    try await world.engine.expiring.set("x", for: Self.seen, of: Self.meter)
    #expect(try await world.engine.expiring.value(of: ExpiringField<Int>("seen"), for: Self.meter) == nil)
  }

  @Test(arguments: ["", "a/b"])
  func needANameWithoutSlashes(_ name: String) async throws {
    let world = try await World([Entity("meters")])
    do throws(SyncError) {
      try await world.engine.expiring.set(1, for: ExpiringField<Int>(name), of: Self.meter)
      Issue.record("It did not throw.")
    } catch {
      #expect(error.code == .invalidConfiguration)
    }
  }

  @Test func goWithTheSightingsAndConflictsThatAreTooOld() async throws {
    let world = try await World([Entity("meters")])
    try await world.engine.throttle().record(Meter(id: "m"), key: "m")
    world.clock.advance(by: .seconds(31 * 86_400))
    #expect(try await world.engine.cleanUp(CleanupPolicy()).sightings == 1)
    #expect(try await world.engine.throttle().latest(Meter.self, key: "m") == nil)
    let left = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.keys(withPrefix: "throttle/", after: nil, limit: 9)
    }
    #expect(left.isEmpty)
  }

  private struct Meter: SyncedRecord, Codable {
    static let recordType: RecordType = "meters"
    var id: String
  }
}
