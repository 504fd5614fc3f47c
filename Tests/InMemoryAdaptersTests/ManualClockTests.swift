import CanonicalSync
import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization
import Testing

@Suite("A manual clock", .timeLimit(.minutes(10)))
struct ManualClockTests {
  let clock = ManualClock(timestamp: Timestamp(milliseconds: 1000))

  @Test func wakesASleeperWhenItsTimeHasCome() async throws {
    async let slept: Void = clock.sleep(for: .seconds(5))
    #expect(await clock.nextSleep() == .seconds(5))
    clock.advance(by: .seconds(4))
    #expect(clock.sleepers == 1)
    clock.advance(by: .seconds(1))
    try await slept
    #expect(clock.sleepers == 0)
  }

  @Test func tellsASleepThatBeginsLater() async throws {
    async let length = clock.nextSleep()
    async let slept: Void = clock.sleep(for: .seconds(3))
    #expect(await length == .seconds(3))
    clock.advance(by: .seconds(3))
    try await slept
  }

  @Test func doesNotPutAnyoneToSleepForNothing() async throws {
    try await clock.sleep(until: clock.now)
    #expect(clock.sleepers == 0)
  }

  @Test func endsACancelledSleepAtOnce() async {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask { [clock] in
        do {
          try await clock.sleep(for: .seconds(1))
          return false
        } catch {
          return error is CancellationError
        }
      }
      _ = await clock.nextSleep()
      group.cancelAll()
      #expect(await group.next() == true)
    }
    #expect(clock.sleepers == 0)
  }

  @Test func endsASleepOfACancelledTaskBeforeItBegins() async {
    await withTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask { [clock] in
        await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) }
      }
    }
    #expect(clock.sleepers == 0)
  }

  @Test func passesOverSleepsThatHaveEnded() async throws {
    async let first: Void = clock.sleep(for: .seconds(1))
    #expect(await clock.nextSleep() == .seconds(1))
    async let second: Void = clock.sleep(for: .seconds(2))
    while clock.sleepers < 2 { await Task.yield() }
    clock.advance(by: .seconds(2))
    try await first
    try await second
    async let third: Void = clock.sleep(for: .seconds(3))
    #expect(await clock.nextSleep() == .seconds(3))
    clock.advance(by: .seconds(3))
    try await third
  }

  @Test func stampsTheTimeItWasToldAndMovesItOn() {
    clock.advance(by: .milliseconds(500))
    #expect(clock.timestamp == Timestamp(milliseconds: 1500))
    clock.timestamp = Timestamp(milliseconds: 7)
    clock.advance(by: .milliseconds(1))
    #expect(clock.timestamp == Timestamp(milliseconds: 8))
    #expect(clock.now.offset == .milliseconds(501))
  }

  @Test func losesNothingOfStepsThatAreSmallerThanAMicrosecond() {
    for _ in 1...5 { clock.advance(by: .nanoseconds(600)) }
    #expect(clock.timestamp == Timestamp(microseconds: 1_000_003))
  }
}

@Suite("An event recorder", .timeLimit(.minutes(10)))
struct EventRecorderTests {
  private static func isStart(_ event: SyncEvent) -> Bool {
    if case .started = event { true } else { false }
  }

  @Test func findsAnEventThatCameBefore() async {
    let recorder = EventRecorder()
    recorder.receive(.started(fence: 1))
    #expect(await recorder.wait(for: Self.isStart) != nil)
    #expect(recorder.events.count == 1)
  }

  @Test func waitsForAnEventThatComesLater() async {
    let recorder = EventRecorder()
    async let event = recorder.wait(for: Self.isStart)
    recorder.receive(.lost(1))
    recorder.receive(.started(fence: 7))
    guard case .started(fence: 7)? = await event else { return #expect(Bool(false), "Another event came.") }
  }

  @Test func stopsWaitingWhenCancelled() async {
    let recorder = EventRecorder()
    let found = await withTaskGroup(of: Bool.self) { group in
      group.addTask { await recorder.wait(for: Self.isStart) != nil }
      group.cancelAll()
      return await group.next()
    }
    #expect(found == false)
  }
}

@Suite("The names of sleeps", .timeLimit(.minutes(10)))
struct WaitNameTests {
  @Test func tellTheRetryFromTheLease() async throws {
    let clock = ManualClock()
    let remote = InMemoryRemote(clock: clock)
    remote.behave(.fail(SyncError(.remoteUnavailable, during: "testing")))
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: InMemoryStore(leaseClock: { clock.timestamp }),
      source: remote,
      clock: clock, random: RepeatedNumber(.max))
    async let result = engine.sync()
    let pause = await clock.nextSleep(.retry)
    #expect(pause > .zero && pause < .seconds(10))
    #expect(await clock.nextSleep(.lease) == .seconds(5))
    clock.advance(by: pause)
    #expect(try await result.wasCancelled == false)
  }

  @Test func comeWithPausesThatAGeneratorDraws() async throws {
    #expect(try await pauses(SplitMix64(seed: 1)) == pauses(SplitMix64(seed: 1)))
    #expect(try await pauses(SplitMix64(seed: 1)) != pauses(SplitMix64(seed: 2)))
    #expect(
      try await pauses(RepeatedNumber(1 << 63)) == [.milliseconds(250), .milliseconds(500), .seconds(1)])
  }

  /// The pauses of a pull that fails four times.
  private func pauses(_ random: any RandomNumberGenerator & Sendable) async throws -> [Duration] {
    let remote = InMemoryRemote()
    remote.behave(.fail(SyncError(.remoteUnavailable, during: "testing")), onNext: 4)
    let retries = Mutex<[Duration]>([])
    let clock = ManualClock()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: InMemoryStore(leaseClock: { clock.timestamp }),
      source: remote, clock: clock, options: SyncOptions(retry: RetryPolicy(attempts: 4)),
      observers: [
        Listener { if case .retrying(_, _, let pause, _) = $0 { retries.withLock { $0.append(pause) } } }
      ],
      random: random)
    async let result = engine.sync()
    for _ in 1...3 { clock.advance(by: await clock.nextSleep(.retry)) }
    _ = try? await result
    return retries.withLock { $0 }
  }

  private struct Listener: SyncObserver {
    let hear: @Sendable (SyncEvent) -> Void
    func receive(_ event: SyncEvent) { hear(event) }
  }
}
