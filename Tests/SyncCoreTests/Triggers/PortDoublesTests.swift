import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A feed of network states", .timeLimit(.minutes(10)))
struct NetworkStatusFeedTests {
  @Test func tellsTheStateNowAndThenEachChange() async {
    let monitor = ManualConnectivity(.unknown)
    var statuses = monitor.statuses().makeAsyncIterator()
    #expect(await statuses.next() == NetworkStatus(.unknown))
    monitor.status = NetworkStatus(.online, interface: .wired)
    monitor.status = NetworkStatus(.online, interface: .wired)
    monitor.status = NetworkStatus(.online, interface: .wifi)
    monitor.connectivity = .offline
    #expect(await statuses.next() == NetworkStatus(.online, interface: .wired))
    #expect(await statuses.next() == NetworkStatus(.online, interface: .wifi))
    #expect(await statuses.next() == NetworkStatus(.offline))
    #expect(monitor.connectivity == .offline)
  }

  @Test func keepsTheNewestSixteenForASlowFollower() async {
    let feed = NetworkStatusFeed(NetworkStatus(.online))
    var statuses = feed.statuses().makeAsyncIterator()
    for number in 0..<101 { feed.report(NetworkStatus(number % 2 == 0 ? .offline : .online)) }
    var seen: [Connectivity] = []
    for _ in 0..<16 { if let status = await statuses.next() { seen.append(status.connectivity) } }
    #expect(seen.count == 16)
    #expect(seen.contains(.online))
    #expect(seen.last == .offline)
  }

  @Test func forgetsAFollowerThatHasLeft() async {
    let monitor = ManualConnectivity()
    do {
      var statuses = monitor.statuses().makeAsyncIterator()
      _ = await statuses.next()
      #expect(monitor.subscribers == 1)
    }
    #expect(monitor.subscribers == 0)
    let time = VirtualTime(ManualClock())
    let follower = Mutex(0)
    let task = Task(executorPreference: time) {
      for await _ in monitor.statuses() { follower.withLock { $0 += 1 } }
    }
    time.settle()
    #expect(monitor.subscribers == 1)
    task.cancel()
    time.settle()
    #expect(monitor.subscribers == 0)
    #expect(follower.withLock { $0 } == 1)
  }
}

@Suite("The scheduler in memory", .timeLimit(.minutes(10)))
struct InMemorySchedulerTests {
  private let clock = ManualClock()
  private let refresh = BackgroundRequest(.refresh, earliest: .after(.seconds(10)))

  @Test func keepsOneRequestOfEachKindTheLatest() throws {
    let scheduler = InMemoryScheduler(clock: clock)
    let begin = try scheduler.submit(refresh)
    #expect(begin == clock.timestamp + .seconds(10))
    clock.advance(by: .seconds(5))
    try scheduler.submit(refresh)
    try scheduler.submit(BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: 2))))
    #expect(scheduler.pending[.refresh]?.begin == begin + .seconds(5))
    #expect(scheduler.pending.count == 2)
  }

  @Test func putsABeginOffWhenARequestIsReplaced() throws {
    let scheduler = InMemoryScheduler(clock: clock)
    let time = VirtualTime(clock)
    let task = Task(executorPreference: time) { await scheduler.run { _, _ in .succeeded } }
    try scheduler.submit(refresh)
    time.pass(until: .seconds(5))
    try scheduler.submit(refresh)
    time.pass(until: .seconds(14))
    #expect(scheduler.begun.isEmpty)
    time.pass(until: .seconds(15))
    #expect(scheduler.begun.count == 1)
    #expect(scheduler.pending.isEmpty)
    task.cancel()
    time.settle()
    #expect(clock.sleepers == 0)
  }

  // Between the look at the clock and the sleep, a busy machine leaves time for a whole advance.
  @Test(arguments: [1, 2])
  func beginsInTimeWhenTheClockIsAdvancedBeforeItSleeps(afterReading count: Int) throws {
    let hasty = HastyClock(base: clock)
    let scheduler = InMemoryScheduler(clock: hasty)
    let time = VirtualTime(clock)
    try scheduler.submit(refresh)
    hasty.readings.store(count, ordering: .relaxed)
    let task = Task(executorPreference: time) { await scheduler.run { _, _ in .succeeded } }
    time.settle()
    #expect(scheduler.begun.count == 1)
    task.cancel()
    time.settle()
  }

  @Test func waitsForItsWorkWhenItIsStoppedAndKeepsWhatIsPending() throws {
    let scheduler = InMemoryScheduler(clock: clock)
    let time = VirtualTime(clock)
    let gate = CancellationSource()
    let isOver = Mutex(false)
    let (clock, refresh) = (clock, refresh)
    let task = Task(executorPreference: time) {
      await scheduler.run { _, token in
        _ = try? scheduler.submit(refresh)
        await token.wait(on: clock)
        gate.cancel()
        return .succeeded
      }
      isOver.withLock { $0 = true }
    }
    try scheduler.submit(refresh)
    time.pass(until: .seconds(11))
    #expect(!gate.isCancelled)
    task.cancel()
    time.settle()
    #expect(gate.isCancelled)
    #expect(isOver.withLock { $0 })
    #expect(scheduler.begun.map(\.outcome) == [.succeeded])
    #expect(scheduler.pending[.refresh]?.begin == Timestamp(milliseconds: 1_767_225_600_000) + .seconds(20))
  }
}

/// A clock that advances right after one of the readings of its timestamp.
private final class HastyClock: SyncPorts.Clock {
  let base: ManualClock
  /// The readings until then; zero for no advance.
  let readings = Atomic(0)

  init(base: ManualClock) { self.base = base }

  var now: ManualClock.Instant { base.now }
  var minimumResolution: Duration { base.minimumResolution }
  var timestamp: Timestamp {
    let timestamp = base.timestamp
    if readings.subtract(1, ordering: .relaxed).newValue == 0 { base.advance(by: .seconds(20)) }
    return timestamp
  }
  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await base.sleep(until: deadline, tolerance: tolerance)
  }
}

extension CancellationToken {
  /// Waits for the cancellation of the token or of the task.
  fileprivate func wait(on clock: ManualClock) async {
    while !isCancelled, !Task.isCancelled {
      try? await clock.sleep(until: clock.now.advanced(by: .milliseconds(100)))
    }
  }
}
