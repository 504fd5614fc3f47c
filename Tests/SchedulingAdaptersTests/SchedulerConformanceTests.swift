import CanonicalSync
import InMemoryAdapters
import SchedulingAdapters
import SyncConformance
import Synchronization
import Testing

@Suite("The scheduler of a server, by its port,", .timeLimit(.minutes(10)))
struct SchedulerConformanceTests {
  @Test(arguments: SchedulerCheck.allCases, [Duration.zero, .seconds(300)])
  func keepsThePromisesOfABackgroundScheduler(_ check: SchedulerCheck, _ spread: Duration) async throws {
    let clock = ManualClock()
    let stop = CancellationSource()
    let connectivity = ManualConnectivity()
    let isOnBattery = Mutex(false)
    let scheduler = try InProcessScheduler(
      timeZone: "America/New_York", expiration: stop, spread: spread, connectivity: connectivity,
      isOnBattery: { isOnBattery.withLock { $0 } }, clock: clock)
    let harness = SchedulerHarness(
      scheduler: scheduler, now: { clock.timestamp }, pass: { clock.advance(by: $0) },
      expire: { stop.cancel() }, setOnline: { connectivity.connectivity = $0 ? .online : .offline },
      setPowered: { isPowered in isOnBattery.withLock { $0 = !isPowered } })
    #expect(try await check.run(on: harness) == .kept)
    #expect(clock.sleepers == 0)
    #expect(connectivity.subscribers == 0)
  }
}
