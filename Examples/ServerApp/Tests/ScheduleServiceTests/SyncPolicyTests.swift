import CanonicalSync
import ScheduleService
import Testing

@Suite("The app's sync policy")
struct SyncPolicyTests {
  private let policy = SyncPolicy(interval: .seconds(300))
  private let now = Timestamp(milliseconds: 1_767_225_600_000)

  private func decision(after seconds: Int?, _ connectivity: Connectivity = .online) -> SyncPolicy.Decision {
    policy.decide(
      lastAttempt: seconds.map { now + .seconds(-$0) }, at: now, connectivity: connectivity)
  }

  @Test func syncsAtOnceWhenNothingWasTriedYet() {
    #expect(decision(after: nil) == .sync)
    #expect(decision(after: nil, .unknown) == .sync)
  }

  @Test(arguments: [(0, 300), (1, 299), (299, 1)])
  func waitsForTheRestOfTheInterval(_ age: Int, _ rest: Int) {
    #expect(decision(after: age) == .wait(.seconds(rest)))
  }

  @Test(arguments: [300, 301, 100_000, -1])
  func syncsWhenTheIntervalIsOverOrTheClockWasSetBack(_ age: Int) {
    #expect(decision(after: age) == .sync)
  }

  @Test(arguments: [nil, 0, 1000])
  func staysQuietWhileTheNetworkIsAway(_ age: Int?) {
    #expect(decision(after: age, .offline) == .stayOffline)
  }
}
