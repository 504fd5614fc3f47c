import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("A retry policy")
struct RetryPolicyTests {
  let policy = RetryPolicy(attempts: 4, base: .seconds(1), cap: .seconds(3))
  let failure = SyncError(.remoteUnavailable, during: "testing")

  @Test(arguments: [(1, 1.0), (2, 2.0), (3, 3.0)])
  func drawsPausesUpToACeilingThatDoublesAndIsCapped(_ failures: Int, _ ceiling: Double) throws {
    let longest = try #require(policy.pause(afterFailures: failures, error: failure, random: .max))
    #expect(longest <= .seconds(ceiling))
    #expect(longest > .seconds(ceiling * 0.999))
    #expect(policy.pause(afterFailures: failures, error: failure, random: 0) == .zero)
  }

  @Test func keepsToItsBudget() {
    #expect(policy.pause(afterFailures: 3, error: failure, random: 0) != nil)
    #expect(policy.pause(afterFailures: 4, error: failure, random: 0) == nil)
  }

  @Test func neverAsksSoonerThanTheRemoteSays() {
    var error = failure
    error.retryAfter = .seconds(2)
    #expect(policy.pause(afterFailures: 1, error: error, random: 0) == .seconds(2))
    error.retryAfter = .seconds(4)
    #expect(policy.pause(afterFailures: 1, error: error, random: 0) == nil)
  }

  @Test(arguments: [
    SyncError.Code.authentication, .quotaExceeded, .cancelled, .storeFull, .offline, .inconsistentData,
  ])
  func doesNotRepeatWhatARepetitionDoesNotCure(_ code: SyncError.Code) {
    #expect(policy.pause(afterFailures: 1, error: SyncError(code, during: "testing"), random: 0) == nil)
  }

  @Test func survivesAnyNumberOfFailures() {
    let patient = RetryPolicy(attempts: .max, base: .seconds(1), cap: .seconds(3))
    #expect(patient.pause(afterFailures: 1_000_000, error: failure, random: .max)! <= .seconds(3))
  }

  @Test(arguments: [Duration.zero, .seconds(1), .seconds(Int64.max), Duration(attoseconds: .max)])
  func survivesAnyDuration(_ longest: Duration) {
    let extreme = RetryPolicy(attempts: .max, base: longest, cap: longest)
    for failures in [1, 2, 40, .max - 1] { #expect(extreme.ceiling(afterFailures: failures) == longest) }
    let capped = RetryPolicy(attempts: .max, base: .seconds(1), cap: longest)
    #expect(capped.ceiling(afterFailures: .max - 1) == longest)
    let pacing = SyncPacing(failureBase: longest, failureCap: longest)
    #expect(pacing.wait(afterFailures: .max, random: 0) <= longest)
  }

  @Test func clampsTimesToTheirRange() {
    let (before, after) = (Timestamp(microseconds: -5), Timestamp(microseconds: 5))
    let (longest, least) = (Duration(attoseconds: .max), Duration(attoseconds: .min))
    #expect([after + longest, after - least] == [.max, .max].map(Timestamp.init(microseconds:)))
    #expect([before - longest, before + least] == [.min, .min].map(Timestamp.init(microseconds:)))
    #expect(after - .microseconds(7) == Timestamp(microseconds: -2))
  }
}
