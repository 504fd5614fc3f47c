import CanonicalSync
import InMemoryAdapters
import Testing

@testable import SyncCore

private struct Meter: SyncedRecord, Codable, Equatable {
  static let recordType: RecordType = "meters"
  var id: String
  var signal: Int
}

@Suite("Write throttle", .timeLimit(.minutes(5)))
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
    // Not twice within an interval, and never longer than one.
    #expect(try await !see(2, world))
    world.clock.advance(by: .seconds(119))
    #expect(try await !see(3, world))
    world.clock.advance(by: .seconds(1))
    #expect(try await see(4, world))
  }

  @Test func doesNotCountAWriteThatFailed() async throws {
    let world = try await World([Entity("meters")])
    let store = FaultyStore(world.store, failingCall: 1)
    let engine = try await SyncEngine(
      graph: world.engine.graph, store: store, source: world.remote, clock: world.clock, random: { 0 })
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
    #expect(machine.see(at: at(20), interval: .seconds(120)) == .cache(until: at(140)))
    #expect(machine.see(at: at(139), interval: .seconds(120)) == .cache(until: at(140)))
    #expect(machine.see(at: at(140), interval: .seconds(120)) == .record)
    #expect(machine.see(at: Timestamp(microseconds: .max), interval: .seconds(120)) == .record)
    #expect(
      machine.see(at: Timestamp(microseconds: .min), interval: .seconds(120))
        == .cache(until: Timestamp(microseconds: .min) + .seconds(120)))
  }
}
