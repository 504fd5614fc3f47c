import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

/// A day with a change of the clocks in some time zone.
struct DayStory: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var zone: UTCOffsets
  /// Noon of the day before, in seconds since 1970.
  var noon: Int64
  /// The hours until 02:00, by the local clocks.
  var hours: [Int]

  static let all = [
    DayStory(
      testDescription: "Berlin, plain", zone: .berlin, noon: 1_768_000_000 / 86_400 * 86_400 + 39_600,
      hours: [14]),
    // 02:00 is skipped. The first instant after the gap is 03:00, 14 hours after noon.
    DayStory(testDescription: "Berlin, spring", zone: .berlin, noon: 1_774_746_000 - 14 * 3600, hours: [14]),
    // 02:00 occurs twice, and the first one counts.
    DayStory(testDescription: "Berlin, autumn", zone: .berlin, noon: 1_792_890_000 - 15 * 3600, hours: [14]),
    DayStory(
      testDescription: "New York, spring", zone: .newYork, noon: 1_772_953_200 - 14 * 3600, hours: [14]),
    // 01:00 occurs twice, so 02:00 comes an hour later.
    DayStory(
      testDescription: "New York, autumn", zone: .newYork, noon: 1_793_512_800 - 14 * 3600, hours: [15]),
  ]
}

@Suite("A day", .timeLimit(.minutes(10)))
struct DayTests {
  @Test(arguments: DayStory.all, [1, 2, 3] as [UInt64])
  func isSpentWithRefreshesAndOneNightOfWork(_ story: DayStory, _ seed: UInt64) async throws {
    let clock = ManualClock(timestamp: Timestamp(milliseconds: story.noon * 1000))
    let cleanUps = Mutex<[Double]>([])
    let world = try await CoordinatorWorld(
      latency: .milliseconds(100), zone: story.zone,
      engineOptions: SyncOptions(pageSize: 4, retry: RetryPolicy(attempts: 1)), clock: clock,
      cleanUp: { _ throws(SyncError) in
        cleanUps.withLock { $0.append((clock.now.offset / .seconds(3600)).rounded(.down)) }
      })
    let random = Mutex(SplitMix64(seed: seed))
    let expired = Mutex(0)
    // A tenth of all pages, chosen at random, end the time limit.
    world.remote.onRequest = { _ in
      guard random.withLock({ $0.next() % 10 }) == 0 else { return }
      expired.withLock { $0 += 1 }
      world.scheduler.expire()
    }
    await world.running {
      world.signal(.launch)
      world.time.settle()
      for hour in 0..<24 {
        for number in 0..<10 {
          let key = "t\(random.withLock { $0.next() % 60 })"
          world.remote.upsert("teams", key, #"{"id":"\#(key)","hour":\#(hour),"n":\#(number)}"#)
        }
        world.time.pass(until: .seconds((hour + 1) * 3600 - 1))
      }
      world.time.pass(until: .seconds(24 * 3600 + 60))
    }

    let begun = world.scheduler.begun
    #expect(begun.allSatisfy { $0.outcome == .succeeded })
    let nights = begun.filter { $0.kind == .processing }.map { $0.at.microseconds / 1_000_000 }
    #expect(nights.map { ($0 - story.noon) / 3600 } == story.hours.map { Int64($0) })
    #expect(begun.count { $0.kind == .refresh } == 24)
    #expect(expired.withLock { $0 } > 0)
    // Every sync ended. A clean-up followed each night's sync within the time limit.
    let finished = world.events.count { if case .finished = $0.event { true } else { false } }
    #expect(finished == world.runs.count)
    let cutShort = world.events.contains { if case .expired(.processing) = $0.event { true } else { false } }
    #expect(cleanUps.withLock { $0 } == (cutShort ? [] : story.hours.map(Double.init)))
    #expect(world.isQuiet)

    // An interrupted pass continues after its last page. One sync without interruption completes
    // it.
    world.remote.onRequest = nil
    let sent = world.remote.counters().changes
    let last = Task(executorPreference: world.time) { try await world.engine.sync() }
    world.time.pass(until: .seconds(25 * 3600))
    let result = try await last.value
    #expect(result.total.fetched == world.remote.counters().changes - sent)
    #expect(try await world.engine.status().allSatisfy { $0.inFlight == nil })
    let local = world.store.records(of: "teams").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    let remote = world.remote.records(of: "teams").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    #expect(local.sorted() == remote.sorted())
  }
}
