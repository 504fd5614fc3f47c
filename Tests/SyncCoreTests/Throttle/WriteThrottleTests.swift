import CanonicalSync
import InMemoryAdapters
import SyncJSON
import Testing

@testable import SyncCore

private struct Meter: SyncedRecord, Codable, Equatable {
  static let recordType: RecordType = "meters"
  var id: String
  var signal: Int
}

@Suite("Write throttle", .timeLimit(.minutes(10)))
struct WriteThrottleTests {
  private static let meter = RecordID(type: "meters", key: "m")

  private func see(_ signal: Int, _ world: World) async throws -> Bool {
    try await world.engine.throttle().record(Meter(id: "m", signal: signal), key: "m") == .recorded
  }

  private func recorded(_ world: World) async throws -> Int? {
    try await world.engine.records.find(Meter.self, key: "m")?.signal
  }

  @Test func recordsTheFirstSightingAndThenOneInAnInterval() async throws {
    let world = try await World([Entity("meters")])
    var recordedAt: [Int] = []
    var last = 0
    for second in [0, 30, 60, 90, 120, 240] {
      world.clock.advance(by: .seconds(second - last))
      last = second
      if try await see(second, world) { recordedAt.append(second) }
      #expect(try await recorded(world) == recordedAt.last)
      #expect(try await world.engine.throttle().latest(Meter.self, key: "m")?.value.signal == second)
    }
    #expect(recordedAt == [0, 120, 240])
  }

  @Test func tellsWhenTheNextOneIsRecorded() async throws {
    let world = try await World([Entity("meters")])
    let throttle = world.engine.throttle(every: .seconds(10))
    let start = world.clock.timestamp
    #expect(try await throttle.record(Meter(id: "m", signal: 1), key: "m") == .recorded)
    world.clock.advance(by: .seconds(4))
    #expect(
      try await throttle.record(Meter(id: "m", signal: 2), key: "m") == .cached(until: start + .seconds(10)))
    #expect(try await throttle.latest(Meter.self, key: "m")?.seenAt == start + .seconds(4))
    #expect(try await throttle.latest(Meter.self, key: "other") == nil)
  }

  @Test func tellsTheRemoteOfRecordedSightingsAlone() async throws {
    let world = try await World([Entity("meters")])
    _ = try await see(1, world)
    let stamp = try await world.engine.edits.pending("meters").first?.edit.stamp
    world.clock.advance(by: .seconds(60))
    _ = try await see(2, world)
    #expect(try await world.engine.edits.pending("meters").map(\.edit.stamp) == [stamp])
  }

  @Test func countsForEachRecordAlone() async throws {
    let world = try await World([Entity("meters")])
    let throttle = world.engine.throttle()
    for key in ["a", "b"] {
      #expect(try await throttle.record(Meter(id: key, signal: 1), key: key) == .recorded)
    }
  }

  @Test func beginsAnewWhenItIsReset() async throws {
    let world = try await World([Entity("meters")])
    _ = try await see(1, world)
    world.clock.advance(by: .seconds(5))
    try await world.engine.throttle().reset(Self.meter)
    #expect(try await world.engine.throttle().latest(Meter.self, key: "m")?.value.signal == 1)
    #expect(try await see(2, world))
    world.clock.advance(by: .seconds(5))
    #expect(try await !see(3, world))
  }

  @Test func outlastsARestart() async throws {
    let world = try await World([Entity("meters")])
    _ = try await see(1, world)
    let again = try await World([Entity("meters")], store: world.store)
    again.clock.advance(by: .seconds(119))
    #expect(try await !see(2, again))
    again.clock.advance(by: .seconds(1))
    #expect(try await see(3, again))
  }

  @Test func isNotBlockedByAClockThatWasSetBack() async throws {
    let world = try await World([Entity("meters")])
    _ = try await see(1, world)
    world.clock.timestamp = world.clock.timestamp - .seconds(86_400)
    // At most once in an interval, and never later than one interval.
    #expect(try await !see(2, world))
    world.clock.advance(by: .seconds(119))
    #expect(try await !see(3, world))
    world.clock.advance(by: .seconds(1))
    #expect(try await see(4, world))
  }

  @Test func doesNotCountAWriteThatFailed() async throws {
    let world = try await World([Entity("meters")])
    // The engine's setup makes the first two calls.
    let store = FaultyStore(world.store, failingCall: 3)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock,
      random: RepeatedNumber())
    await #expect(throws: SyncError.self) {
      try await engine.throttle().record(Meter(id: "m", signal: 1), key: "m")
    }
    #expect(try await engine.throttle().record(Meter(id: "m", signal: 2), key: "m") == .recorded)
  }
}

@Suite("ThrottleMachine")
struct ThrottleMachineTests {
  private func at(_ second: Int64) -> Timestamp { Timestamp(milliseconds: second * 1000) }

  @Test func decides() {
    var machine = ThrottleMachine()
    #expect(machine.see(at: at(0), interval: .seconds(120)) == .record)
    #expect(machine.see(at: at(119), interval: .seconds(120)) == .cache(until: at(120)))
    #expect(machine.see(at: at(120), interval: .seconds(120)) == .record)
    #expect(machine.see(at: Timestamp(microseconds: .max), interval: .seconds(120)) == .record)
    #expect(
      machine.see(at: Timestamp(microseconds: .min), interval: .seconds(120))
        == .cache(until: Timestamp(microseconds: .min) + .seconds(120)))
    #expect(machine.see(at: at(0), interval: .seconds(120)) == .record)
  }

  /// The times of recorded sightings, given the stamps of all.
  private func recorded(_ seconds: [Int64]) -> [Int64] {
    var machine = ThrottleMachine()
    return seconds.filter { machine.see(at: at($0), interval: .seconds(120)) == .record }
  }

  @Test(
    arguments: [
      // Set back and corrected within the interval, with any sightings meanwhile.
      ([1000, 0, 1001], [1000]), ([1000, 0, 50, 1051, 1119, 1120], [1000, 1120]),
      // It stays set back: a new interval begins, then others follow.
      ([1000, 0, 119, 120, 239, 240], [1000, 120, 240]),
      // Corrected after a recording by the slow clock.
      ([1000, 0, 120, 1121, 1239, 1240], [1000, 120, 1240]),
      // Set back further, and corrected.
      ([1000, 500, 0, 119, 120, 1121], [1000, 120]), ([1000, 0, 1001, 500, 619, 620], [1000, 620]),
      // Set back by less than an interval. It may be corrected soon: no sighting waits longer than
      // two.
      ([1000, 900, 1019, 1020, 1119, 1120], [1000, 1120]),
      // The clock once was years ahead.
      ([0, 900_000_000, 121, 240, 241, 361], [0, 900_000_000, 241, 361]),
    ] as [([Int64], [Int64])])
  func followsAClockThatIsSet(_ seen: [Int64], _ expected: [Int64]) {
    #expect(recorded(seen) == expected)
  }

  @Test func tellsWhenItRecordsNext() {
    var machine = ThrottleMachine()
    _ = machine.see(at: at(1000), interval: .seconds(120))
    #expect(machine.see(at: at(0), interval: .seconds(120)) == .cache(until: at(120)))
    #expect(machine.see(at: at(1001), interval: .seconds(120)) == .cache(until: at(1120)))
    #expect(machine.see(at: at(950), interval: .seconds(120)) == .cache(until: at(1120)))
    #expect(machine.lastSeen(at: at(960)) == at(950))
    #expect(machine.lastSeen(at: at(1001)) == at(1000))
  }

  @Test func readsWhatWasWrittenBeforeClocksWereFollowed() throws {
    let old = Array(#"{"recordedAt":5000000}"#.utf8)
    var machine = try JSONByteDecoder().decode(ThrottleMachine.self, from: old[...])
    #expect(machine.see(at: at(124), interval: .seconds(120)) == .cache(until: at(125)))
  }
}
