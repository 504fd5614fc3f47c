import CanonicalSync
import InMemoryAdapters
import Testing

// R4.6
@Suite("Expiring values that travel", .timeLimit(.minutes(10)))
struct TravellingValuesTests {
  private struct Connection: Codable, Hashable {
    var ssid: String
  }
  private struct Meter: SyncedRecord, Codable {
    static let recordType: RecordType = "meters"
    var name: String
    var connection: Expiring<Connection>?
  }
  private static let connection = ExpiringMember<Connection>("connection", of: "meters")
  private static let home = Connection(ssid: "home")

  private func clean(_ world: PushWorld) async throws -> Int {
    try await world.engine.cleanUp(CleanupPolicy(expiring: [Self.connection.purge])).expired
  }

  private func value(_ world: PushWorld) async throws -> Connection? {
    try await world.engine.expiring.value(of: Self.connection, key: "m")
  }

  private func meter(_ world: PushWorld) async throws -> String? {
    try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.records(withIDs: [RecordID(type: "meters", key: "m")])[0]
        .map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    }
  }

  /// Two devices that share a meter with a value, written by the first one.
  private func pair() async throws -> (PushWorld, PushWorld) {
    let one = try await PushWorld([Entity("meters", stampField: "edited")])
    let two = try await PushWorld([Entity("meters", stampField: "edited")], name: "b", beside: one)
    try await one.write("meters", "m", ["name": #""Cellar""#])
    try await one.engine.expiring.set(Self.home, for: Self.connection, key: "m")
    _ = try await one.engine.sync()
    _ = try await two.engine.sync()
    return (one, two)
  }

  @Test func areSeenByOtherDevicesAndEndThere() async throws {
    let (one, two) = try await pair()
    let start = one.clock.timestamp
    for world in [one, two] {
      #expect(try await value(world) == Self.home)
      let meter = try await world.engine.records.find(Meter.self, key: "m")
      #expect(meter?.name == "Cellar")
      #expect(meter?.connection?.expiresAt == start + .seconds(86_400))
      #expect(meter?.connection?.value(at: start + .seconds(86_399)) == Self.home)
      #expect(meter?.connection?.value(at: start + .seconds(86_400)) == nil)
    }
    one.clock.advance(by: .seconds(86_399))
    for world in [one, two] { #expect(try await value(world) == Self.home) }
    one.clock.advance(by: .seconds(1))
    for world in [one, two] { #expect(try await value(world) == nil) }
  }

  @Test func arePurgedOnceAndForAllDevices() async throws {
    let (one, two) = try await pair()
    #expect(try await clean(two) == 0)
    one.clock.advance(by: .seconds(86_400))
    // A clock slightly ahead removes nothing.
    #expect(try await clean(two) == 0)
    one.clock.advance(by: .seconds(300))
    let pushes = one.remote.pushLog.count
    // Both clean up before either receives the other's edit.
    #expect(try await clean(two) == 1)
    #expect(try await clean(one) == 1)
    for _ in 1...3 {
      for world in [two, one] {
        _ = try await world.engine.sync()
        #expect(try await clean(world) == 0)
      }
    }
    for world in [one, two] {
      #expect(try await world.outbox().isEmpty)
      #expect(try await meter(world)?.contains("connection") == false)
      #expect(try await meter(world)?.contains("Cellar") == true)
      #expect(try await world.engine.edits.conflicts().isEmpty)
    }
    #expect(one.remote.pushLog.count - pushes <= 2)
  }

  @Test(arguments: [true, false])
  func loseNoRealEditToTheirPurge(_ purgeGoesFirst: Bool) async throws {
    let (one, two) = try await pair()
    one.clock.advance(by: .seconds(86_700))
    // The name changes before the purge, both while offline.
    try await two.write("meters", "m", ["name": #""Attic""#])
    one.clock.advance(by: .seconds(10))
    #expect(try await clean(one) == 1)
    for world in purgeGoesFirst ? [one, two] : [two, one] { _ = try await world.engine.sync() }
    for _ in 1...4 {
      for world in [one, two] {
        _ = try await clean(world)
        _ = try await world.engine.sync()
      }
    }
    for world in [one, two] {
      #expect(try await meter(world)?.contains("Attic") == true)
      #expect(try await meter(world)?.contains("connection") == false)
      #expect(try await world.outbox().isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func loseNoDeletionToTheirPurge(_ purgeGoesFirst: Bool) async throws {
    let (one, two) = try await pair()
    one.clock.advance(by: .seconds(86_700))
    try await two.delete("meters", "m")
    one.clock.advance(by: .seconds(10))
    #expect(try await clean(one) == 1)
    for world in purgeGoesFirst ? [one, two] : [two, one] { _ = try await world.engine.sync() }
    for _ in 1...2 { for world in [one, two] { _ = try await world.engine.sync() } }
    for world in [one, two] {
      #expect(world.store.records(of: "meters").isEmpty)
      #expect(try await world.outbox().isEmpty)
    }
    #expect(one.there().isEmpty)
  }

  @Test func leaveARecordWithAnEditAlone() async throws {
    let (one, _) = try await pair()
    try await one.write("meters", "m", ["name": #""Attic""#])
    let stamp = try await one.outbox().first?.edit.stamp
    one.clock.advance(by: .seconds(86_700))
    #expect(try await clean(one) == 0)
    #expect(try await one.outbox().map(\.edit.stamp) == [stamp])
    _ = try await one.engine.sync()
    #expect(try await clean(one) == 1)
  }

  @Test func areWrittenAnewAndRemovedByHand() async throws {
    let (one, _) = try await pair()
    one.clock.advance(by: .seconds(86_000))
    try await one.engine.expiring.set(Connection(ssid: "away"), for: Self.connection, key: "m")
    one.clock.advance(by: .seconds(86_000))
    #expect(try await value(one) == Connection(ssid: "away"))
    try await one.engine.expiring.set(nil, for: Self.connection, key: "m")
    try await one.engine.expiring.set(nil, for: Self.connection, key: "nobody")
    #expect(try await value(one) == nil)
    #expect(one.store.records(of: "meters").count == 1)
  }

  @Test(arguments: [
    #"{"value":{"ssid":"x"},"expiresAt":9223372036854775807}"#, #"{"value":7,"expiresAt":9000000000000}"#,
    #"{"value":{"ssid":"x"}}"#, #""text""#, "null",
  ])
  func thatMakeNoSenseAreAbsentAndStay(_ json: String) async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m", ["connection": json])
    _ = try await world.engine.sync()
    #expect(try await value(world) == nil)
    world.clock.advance(by: .seconds(86_400))
    #expect(try await clean(world) == 0)
  }

  @Test func ofATypeThatIsNotDeclaredAreRefused() async throws {
    let world = try await PushWorld()
    let member = ExpiringMember<Connection>("connection", of: "nobody")
    await #expect(throws: SyncError.self) {
      try await world.engine.cleanUp(CleanupPolicy(expiring: [member.purge]))
    }
  }
}
