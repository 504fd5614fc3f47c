import CanonicalSync
import InMemoryAdapters
import NetworkAdapters
import SyncConformance
import Synchronization
import Testing

@Suite("The monitors", .timeLimit(.minutes(10)))
struct ConnectivityConformanceTests {
  @Test(arguments: ConnectivityCheck.allCases)
  func keepTheirPromisesByProbing(_ check: ConnectivityCheck) async throws {
    let clock = ManualClock()
    let answers = Mutex(true)
    let tries = Mutex(0)
    let monitor = ProbeMonitor(every: .seconds(30), jitter: 0, timeout: .seconds(1 << 40), clock: clock) {
      tries.withLock { $0 += 1 }
      return answers.withLock { $0 }
    }
    let run = Task { await monitor.run() }
    let harness = ConnectivityHarness(monitor: monitor) { connectivity in
      answers.withLock { $0 = connectivity == .online }
      // A current probe may have the previous answer. The one after the next is sure to have this
      // answer.
      let next = tries.withLock { $0 } + 2
      while tries.withLock({ $0 }) < next || monitor.connectivity != connectivity, !Task.isCancelled {
        clock.advance(by: .seconds(30))
        await Task.yield()
      }
    }
    let outcome = try await check.run(on: harness)
    run.cancel()
    await run.value
    if check == .endedStreamLeavesNothingBehind {
      #expect(outcome == .skipped("The harness cannot count the streams."))
    } else {
      #expect(outcome == .kept)
    }
  }

  #if os(Linux)
    /// Tests this machine's own network. The daemon's tests cover network changes, in a network
    /// namespace.
    @Test(arguments: [ConnectivityCheck.streamBeginsWithTheStatusNow])
    func keepTheirPromisesByTheKernelsMessages(_ check: ConnectivityCheck) async throws {
      let harness = ConnectivityHarness(monitor: try NetlinkMonitor())
      #expect(try await check.run(on: harness) == .kept)
    }
  #endif
}
