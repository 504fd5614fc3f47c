import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@testable import SchedulingAdapters

@Suite("The scheduler of a server", .timeLimit(.minutes(10)))
struct InProcessSchedulerTests {
  typealias Kind = BackgroundRequest.Kind

  /// The kinds that the work was called with.
  let begun = AsyncStream.makeStream(of: Kind.self)
  /// 2026-01-01T00:00:00Z.
  let clock = ManualClock()
  let stop = CancellationSource()

  private func scheduler(
    spread: Duration = .zero, connectivity: (any ConnectivityMonitor)? = nil, random: UInt64 = 0,
    timeZone: String = "Europe/Berlin"
  ) throws -> InProcessScheduler {
    try InProcessScheduler(
      timeZone: timeZone, expiration: stop, spread: spread, connectivity: connectivity, clock: clock,
      random: RepeatedNumber(random))
  }

  /// Runs a scheduler for the time of a body, and ends it.
  private func running(
    _ scheduler: InProcessScheduler,
    work: @escaping @Sendable (Kind, any CancellationToken) async -> Void = { _, _ in },
    _ body: () async throws -> Void
  ) async throws {
    async let run: Void = scheduler.run { [begun] kind, token in
      begun.continuation.yield(kind)
      await work(kind, token)
      return .succeeded
    }
    try await body()
    stop.cancel()
    await run
    #expect(clock.sleepers == 0)
  }

  private func next() async -> Kind? {
    await begun.stream.first { _ in true }
  }

  @Test func beginsWhenTheTimeHasCome() async throws {
    let scheduler = try scheduler()
    let start = clock.timestamp
    #expect(
      scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(600)))) == start + .seconds(600))
    try await running(scheduler) {
      #expect(await clock.nextSleep() == .seconds(600))
      clock.advance(by: .seconds(600))
      #expect(await next() == .refresh)
      #expect(scheduler.begin(of: .refresh) == nil)
    }
  }

  @Test func isWokenByARequest() async throws {
    let scheduler = try scheduler()
    try await running(scheduler) {
      scheduler.submit(BackgroundRequest(.processing, earliest: .after(.zero)))
      #expect(await next() == .processing)
    }
  }

  @Test func replacesThePendingRequestOfItsKind() async throws {
    let scheduler = try scheduler()
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(600))))
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(60))))
    #expect(scheduler.begin(of: .refresh) == clock.timestamp + .seconds(60))
  }

  @Test func looksAtTheWallClockAgainDuringALongWait() async throws {
    let scheduler = try scheduler()
    #expect(
      scheduler.submit(BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: 2))))
        == clock.timestamp + .seconds(3600))
    let passed = Mutex(Duration.zero)
    try await running(scheduler) { [clock] _, _ in
      passed.withLock { $0 = clock.now.offset }
    } _: {
      #expect(await clock.nextSleep() == .seconds(900))
      // The clock is set an hour forward, in this wait or just before the next.
      clock.timestamp = clock.timestamp + .seconds(3600)
      let time = Task { [clock] in
        clock.advance(by: .seconds(900))
        while !Task.isCancelled { clock.advance(by: await clock.nextSleep()) }
      }
      #expect(await next() == .processing)
      time.cancel()
    }
    #expect(passed.withLock { $0 } <= .seconds(1800))
  }

  /// The clock is years ahead at first, and the network's time corrects it.
  @Test(arguments: [0, UInt64.max])
  func keepsToItsTimeOfDayWhenTheWallClockIsSetBack(_ random: UInt64) async throws {
    let scheduler = try scheduler(spread: .seconds(300), random: random)
    let now = clock.timestamp
    clock.timestamp = now + .seconds(9 * 365 * 86_400)
    scheduler.submit(BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: 2))))
    clock.timestamp = now
    let begin = try #require(scheduler.begin(of: .processing))
    let wait = begin.duration(since: now)
    try #require(wait >= .seconds(3600) && wait <= .seconds(3900))
    try await running(scheduler) {
      let time = Task { [clock] in
        while !Task.isCancelled { clock.advance(by: await clock.nextSleep()) }
      }
      #expect(await next() == .processing)
      time.cancel()
      #expect(abs(clock.timestamp.duration(since: begin) / .seconds(1)) <= 900)
    }
  }

  /// The night's work is done, and a correction of the clock must not repeat it.
  @Test func doesNotRepeatANightForASmallCorrection() throws {
    let scheduler = try scheduler()
    let night = clock.timestamp + .seconds(3600)
    clock.timestamp = night + .seconds(60)
    scheduler.submit(BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: 2))))
    clock.timestamp = night - .seconds(600)
    #expect(scheduler.begin(of: .processing) == night + .seconds(86_400))
  }

  /// A delay is measured by the monotonic clock, which cannot be set.
  @Test(arguments: [-86_400, 86_400])
  func waitsForAWhileWhateverTheWallClockShows(_ shift: Int) async throws {
    let scheduler = try scheduler()
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(3600))))
    let passed = Mutex(Duration.zero)
    try await running(scheduler) { [clock] _, _ in
      passed.withLock { $0 = clock.now.offset }
    } _: {
      #expect(await clock.nextSleep() == .seconds(900))
      clock.timestamp = clock.timestamp + .seconds(shift)
      for _ in 1...3 {
        clock.advance(by: .seconds(900))
        #expect(await clock.nextSleep() == .seconds(900))
      }
      clock.advance(by: .seconds(900))
      #expect(await next() == .refresh)
    }
    #expect(passed.withLock { $0 } == .seconds(3600))
  }

  @Test(arguments: [(0, 0), (UInt64(1) << 63, 150), (UInt64.max, 299.999)] as [(UInt64, Double)])
  func spreadsAFleet(_ random: UInt64, _ delay: Double) throws {
    let scheduler = try scheduler(spread: .seconds(300), random: random)
    let earliest = scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(3600))))
    #expect(earliest == clock.timestamp + .seconds(3600))
    let begin = try #require(scheduler.begin(of: .refresh))
    #expect(abs(begin.duration(since: earliest) / .seconds(1) - delay) < 0.001)
    #expect(begin < earliest + .seconds(300))
  }

  @Test func delaysByAShareOfTheIntervalUnlessItIsTold() throws {
    let scheduler = try InProcessScheduler(clock: clock, random: RepeatedNumber(.max))
    for (pause, most) in [(5.0, 0.5), (600, 60), (86_400, 300)] {
      let earliest = scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(pause))))
      let begin = try #require(scheduler.begin(of: .refresh))
      #expect(abs(begin.duration(since: earliest) / .seconds(1) - most) < 0.001)
    }
  }

  @Test func waitsForTheNetworkWhereItIsNeeded() async throws {
    let connectivity = ManualConnectivity(.offline)
    let scheduler = try scheduler(connectivity: connectivity)
    scheduler.submit(BackgroundRequest(.processing, earliest: .after(.seconds(1)), needsNetwork: true))
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(2))))
    try await running(scheduler) {
      #expect(await clock.nextSleep() == .seconds(1))
      clock.advance(by: .seconds(1))
      #expect(await clock.nextSleep() == .seconds(1))
      clock.advance(by: .seconds(1))
      // The request that needs no network is not delayed.
      #expect(await next() == .refresh)
      connectivity.connectivity = .online
      #expect(await next() == .processing)
    }
    #expect(connectivity.subscribers == 0)
  }

  @Test func cancelsTheWorkWhenTheTimeIsUpAndBeginsNothingMore() async throws {
    let scheduler = try scheduler()
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.zero)))
    let seen = Mutex(false)
    await scheduler.run { [stop] kind, token in
      #expect(!token.isCancelled)
      scheduler.submit(BackgroundRequest(kind, earliest: .after(.zero)))
      stop.cancel()
      seen.withLock { $0 = token.isCancelled }
      return .succeeded
    }
    #expect(seen.withLock { $0 })
    #expect(scheduler.begin(of: .refresh) != nil)
  }

  @Test func waitsForTheWorkUnderWayWhenItsTaskIsCancelled() async throws {
    let scheduler = try scheduler()
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.zero)))
    let release = CancellationSource()
    let finished = Mutex(0)
    let run = Task {
      await scheduler.run { [begun] kind, _ in
        begun.continuation.yield(kind)
        // Ignores the cancellation of its task, as a commit does.
        await Task { await release.waitUntilCancelled() }.value
        finished.withLock { $0 += 1 }
        return .succeeded
      }
    }
    #expect(await next() == .refresh)
    run.cancel()
    #expect(finished.withLock { $0 } == 0)
    release.cancel()
    await run.value
    #expect(finished.withLock { $0 } == 1)
  }

  @Test func tellsHowTheWorkEnded() async throws {
    let outcomes = Mutex<[String]>([])
    let scheduler = try InProcessScheduler(
      expiration: stop, spread: .zero, clock: clock,
      ended: { kind, outcome in outcomes.withLock { $0.append("\(kind) \(outcome)") } })
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.zero)))
    scheduler.submit(BackgroundRequest(.processing, earliest: .after(.zero)))
    await scheduler.run { [stop] kind, _ in
      if kind == .refresh { stop.cancel() }
      return kind == .refresh ? .failed : .succeeded
    }
    #expect(outcomes.withLock { $0 } == ["processing succeeded", "refresh failed"])
  }

  @Test func knowsNoInventedTimeZones() {
    #expect(throws: SyncError.self) { try scheduler(timeZone: "Europe/Atlantis") }
  }

  /// Runs a month with a refresh every hour and processing at 02:00 at night.
  @Test(arguments: ["Europe/Berlin", "America/New_York"])
  func doesEverythingInAMonth(_ zone: String) async throws {
    let scheduler = try scheduler(timeZone: zone)
    let end = clock.timestamp + .seconds(31 * 86_400)
    let counts = Mutex<[Kind: Int]>([:])
    scheduler.submit(BackgroundRequest(.refresh, earliest: .after(.seconds(3600))))
    scheduler.submit(BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: 2))))
    // Advances time whenever the scheduler sleeps.
    let time = Task { [clock] in
      while !Task.isCancelled { clock.advance(by: await clock.nextSleep()) }
    }
    defer { time.cancel() }
    await scheduler.run { [clock, stop] kind, _ in
      counts.withLock { $0[kind, default: 0] += 1 }
      let earliest: BackgroundRequest.Begin =
        kind == .refresh ? .after(.seconds(3600)) : .next(TimeOfDay(hour: 2))
      scheduler.submit(BackgroundRequest(kind, earliest: earliest))
      if clock.timestamp >= end { stop.cancel() }
      return .succeeded
    }
    #expect(counts.withLock { $0[.refresh] } == 31 * 24)
    #expect(counts.withLock { $0[.processing] } == 31)
  }
}
