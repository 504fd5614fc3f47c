import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

@testable import NetworkAdapters

@Suite("A monitor that probes", .timeLimit(.minutes(10)))
struct ProbeMonitorTests {
  let clock = ManualClock()

  private func monitor(
    jitter: Double = 0, random: UInt64 = 0, _ probe: @escaping @Sendable () async -> Bool
  ) -> ProbeMonitor {
    ProbeMonitor(
      every: .seconds(30), jitter: jitter, timeout: .seconds(5), clock: clock, random: RepeatedNumber(random),
      probe: probe)
  }

  /// The next sleep between probes. A probe's own timeout is skipped.
  private func nextPause() async -> Duration {
    while true {
      let sleep = await clock.nextSleep()
      if sleep != .seconds(5) || Task.isCancelled { return sleep }
    }
  }

  @Test func reportsEachChangeAndNothingElse() async throws {
    let answers = Mutex([true, true, false, false, true][...])
    let monitor = monitor { answers.withLock { $0.popFirst() ?? true } }
    #expect(monitor.status == NetworkStatus(.unknown))
    var statuses = monitor.statuses().makeAsyncIterator()
    let run = Task { await monitor.run() }
    #expect(await statuses.next() == NetworkStatus(.unknown))
    for _ in 0..<5 {
      #expect(await nextPause() == .seconds(30))
      clock.advance(by: .seconds(30))
    }
    for connectivity: Connectivity in [.online, .offline, .online] {
      #expect(await statuses.next() == NetworkStatus(connectivity))
    }
    run.cancel()
    await run.value
    #expect(await statuses.next() == NetworkStatus(.unknown))
    #expect(clock.sleepers == 0)
  }

  @Test func takesSilenceForAnAbsence() async throws {
    let asked = CancellationSource()
    let monitor = monitor {
      asked.cancel()
      await CancellationSource().waitUntilCancelled()
      return true
    }
    let run = Task { await monitor.run() }
    await asked.waitUntilCancelled()
    #expect(await clock.nextSleep() == .seconds(5))
    clock.advance(by: .seconds(5))
    #expect(await clock.nextSleep() == .seconds(30))
    #expect(monitor.connectivity == .offline)
    run.cancel()
    await run.value
    #expect(clock.sleepers == 0)
  }

  @Test(arguments: [(0, 30), (UInt64(1) << 63, 27), (.max, 24)] as [(UInt64, Double)])
  func doesNotKnockInStepWithOthers(_ random: UInt64, _ seconds: Double) {
    let monitor = monitor(jitter: 0.2, random: random) { true }
    #expect(abs(monitor.pause / .seconds(1) - seconds) < 0.001)
  }
}
