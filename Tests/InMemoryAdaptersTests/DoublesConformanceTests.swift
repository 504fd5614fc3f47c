import CanonicalSyncTestExecutors
import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Testing

/// The doubles keep the promises of their ports.
@Suite("The doubles", .timeLimit(.minutes(10)))
struct DoublesConformanceTests {
  @Test(arguments: ConnectivityCheck.allCases)
  func keepThePromisesOfAConnectivityMonitor(_ check: ConnectivityCheck) async throws {
    let monitor = ManualConnectivity(.unknown)
    let harness = ConnectivityHarness(
      monitor: monitor, become: { monitor.connectivity = $0 }, followers: { monitor.subscribers })
    #expect(try await check.run(on: harness) == .kept)
  }

  @Test(arguments: SchedulerCheck.allCases)
  func keepThePromisesOfABackgroundScheduler(_ check: SchedulerCheck) async throws {
    let clock = ManualClock()
    let connectivity = ManualConnectivity()
    let scheduler = InMemoryScheduler(clock: clock, connectivity: connectivity)
    let harness = SchedulerHarness(
      scheduler: scheduler, now: { clock.timestamp }, pass: { clock.advance(by: $0) },
      expire: { scheduler.expire() }, setOnline: { connectivity.connectivity = $0 ? .online : .offline },
      setPowered: { scheduler.hasExternalPower = $0 })
    // On one thread, no time passes before every task has run.
    #expect(try await OneThread.run { try await check.run(on: harness.here) } == .kept)
    #expect(clock.sleepers == 0)
    #expect(connectivity.subscribers == 0)
  }

  @Test(arguments: ClockCheck.allCases)
  func keepThePromisesOfAClock(_ check: ClockCheck) async throws {
    let clock = ManualClock()
    let harness = ClockHarness(clock: clock, advance: { clock.advance(by: $0) })
    #expect(try await check.run(on: harness) == .kept)
    #expect(clock.sleepers == 0)
    for clock: any SyncPorts.Clock<Duration> in [ContinuousClock(), SuspendingClock()] {
      #expect(try await check.run(on: ClockHarness(clock: clock)) == .kept)
    }
  }

  @Test(arguments: CancellationTokenCheck.allCases)
  func keepThoseOfACancellationToken(_ check: CancellationTokenCheck) async throws {
    let (flag, source) = (FlagToken(), CancellationSource())
    let harnesses = [
      CancellationTokenHarness(token: flag, cancel: { flag.isCancelled = true }),
      CancellationTokenHarness(token: source, cancel: { source.cancel() }),
    ]
    for harness in harnesses { #expect(try await check.run(on: harness) == .kept) }
  }

  @Test(arguments: LegacySettingsCheck.allCases)
  func keepThoseOfLegacySettings(_ check: LegacySettingsCheck) async throws {
    let settings = InMemoryLegacySettings()
    let harness = LegacySettingsHarness(
      fill: { settings.dictionaries[$0] = $1 }, open: { settings },
      damage: { settings.failure = SyncError(.storeUnreadable, during: "reading \($0)") })
    #expect(try await check.run(on: harness) == .kept)
  }
}

extension SchedulerHarness {
  /// The harness for a run on the thread of the test.
  var here: SchedulerHarness {
    var harness = self
    harness.executor = OneThread.current
    return harness
  }
}
