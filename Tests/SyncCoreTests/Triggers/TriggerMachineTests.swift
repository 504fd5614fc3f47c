import SyncJSON
import SyncModels
import SyncPorts
import Testing

@testable import SyncCore

@Suite("The trigger machine")
struct TriggerMachineTests {
  private static let start = Timestamp(milliseconds: 1_000_000_000)

  private func at(_ second: Double) -> Moment {
    Moment(elapsed: .seconds(second), timestamp: Self.start + .seconds(second))
  }

  private func machine(
    _ pacing: SyncPacing = SyncPacing(), _ record: PacingState = PacingState(), _ second: Double = 0
  )
    -> TriggerMachine
  {
    var machine = TriggerMachine(pacing: pacing)
    _ = machine.begin(record, at: at(second))
    return machine
  }

  private func run(_ triggers: SyncTrigger..., first: [RecordType] = []) -> TriggerMachine.Step {
    .run(TriggerMachine.Run(triggers: triggers, first: first))
  }

  @Test func makesOneMoreRunOfAllThatComesDuringARun() {
    var machine = machine()
    #expect(machine.report(.request, at: at(0)) == .planned(NextSync(at: Self.start, triggers: [.request])))
    #expect(machine.step(at: at(0)) == run(.request))
    for second in [1.0, 2, 3] {
      #expect(machine.report(.request, first: ["games"], at: at(second)) == .follows)
      #expect(machine.report(.pushSignal, first: ["teams"], at: at(second)) == .follows)
      #expect(machine.step(at: at(second)) == .idle)
    }
    machine.finished(.synced(retryAfter: nil), at: at(4), random: 0)
    #expect(machine.step(at: at(4)) == run(.request, .pushSignal, first: ["teams", "games"]))
    machine.finished(.synced(retryAfter: nil), at: at(5), random: 0)
    #expect(machine.step(at: at(5)) == .idle)
    #expect(machine.record.lastAttempt == at(4).timestamp)
    #expect(machine.record.lastSuccess == at(5).timestamp)
  }

  @Test func countsTheGateFromTheLastAttemptHoweverItEnded() {
    for ending in [TriggerMachine.Ending.synced(retryAfter: nil), .failed(retryAfter: nil), .stopped] {
      var machine = machine()
      _ = machine.report(.launch, at: at(0))
      _ = machine.step(at: at(0))
      machine.finished(ending, at: at(20), random: 0)
      #expect(machine.report(.launch, at: at(299)) == .ignored(.fresh(until: at(300).timestamp)))
    }
  }

  @Test func startsNoMoreThanTheRateLimitAllows() {
    var machine = machine(SyncPacing(runs: 2, window: .seconds(60)))
    for second in [0.0, 10] {
      _ = machine.report(.request, at: at(second))
      #expect(machine.step(at: at(second)) == run(.request))
      machine.finished(.synced(retryAfter: nil), at: at(second), random: 0)
    }
    let next = NextSync(at: at(60).timestamp, triggers: [.request], waitsFor: .rateLimit)
    #expect(machine.report(.request, at: at(11)) == .planned(next))
    #expect(machine.report(.request, at: at(12)) == .joined(next))
    #expect(machine.step(at: at(12)) == .wait(until: .seconds(60)))
    #expect(machine.step(at: at(60)) == run(.request))
    machine.finished(.synced(retryAfter: nil), at: at(61), random: 0)
    _ = machine.report(.connectivityRestored, at: at(62))
    #expect(machine.step(at: at(62)) == .wait(until: .seconds(70)))
  }

  @Test(arguments: [(1, 7.5, 15.0), (2, 15, 30), (3, 30, 60), (9, 1800, 3600), (100_000, 1800, 3600)])
  func waitsLongerAfterEachFailureUpToACap(_ failures: Int, _ least: Double, _ most: Double) {
    let pacing = SyncPacing()
    #expect(pacing.wait(afterFailures: failures, random: 0) == .seconds(least))
    let longest = pacing.wait(afterFailures: failures, random: .max)
    #expect(longest > .seconds(most * 0.999))
    #expect(longest <= .seconds(most))
  }

  @Test func saysWhenItTriesAgainAndWhy() {
    var machine = machine()
    _ = machine.report(.launch, at: at(0))
    #expect(machine.step(at: at(0)) == run(.launch))
    machine.finished(.failed(retryAfter: nil), at: at(1), random: 0)
    #expect(
      machine.next(after: at(1))
        == NextSync(at: at(8.5).timestamp, triggers: [.retry], waitsFor: .failures(1)))
    #expect(machine.step(at: at(1)) == .wait(until: .seconds(8.5)))
    #expect(machine.step(at: at(8.5)) == run(.retry))
    machine.finished(.failed(retryAfter: nil), at: at(9), random: 0)
    #expect(
      machine.next(after: at(9)) == NextSync(at: at(24).timestamp, triggers: [.retry], waitsFor: .failures(2))
    )
    #expect(machine.step(at: at(24)) == run(.retry))
    machine.finished(.synced(retryAfter: nil), at: at(25), random: 0)
    #expect(machine.record.failures == 0)
    #expect(machine.next(after: at(25)) == nil)
  }

  @Test(arguments: [
    (SyncTrigger.request, true), (.connectivityRestored, true), (.background(.refresh), true),
    (.background(.processing), true), (.pushSignal, false), (.requestIfStale(olderThan: .zero), false),
  ])
  func letsOnlyThosePastFailuresThatHaveReasonToHope(_ trigger: SyncTrigger, _ passes: Bool) {
    var machine = machine(SyncPacing(gathering: .zero))
    _ = machine.report(.launch, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.failed(retryAfter: nil), at: at(1), random: 0)
    _ = machine.report(trigger, at: at(2))
    #expect(machine.step(at: at(2)) == (passes ? run(.retry, trigger) : .wait(until: .seconds(8.5))))
  }

  @Test func letsNoSyncPastAPauseThatTheRemoteAskedFor() {
    var machine = machine()
    _ = machine.report(.launch, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.failed(retryAfter: .seconds(100)), at: at(1), random: 0)
    let next = NextSync(at: at(101).timestamp, triggers: [.retry, .request], waitsFor: .remotePause)
    #expect(machine.report(.request, at: at(2)) == .joined(next))
    // A background request is answered at once, and does not wait until its time limit.
    #expect(
      machine.report(.background(.refresh), at: at(3)) == .ignored(.remotePause(until: at(101).timestamp)))
    #expect(machine.step(at: at(100)) == .wait(until: .seconds(101)))
    #expect(machine.step(at: at(101)) == run(.retry, .request))
  }

  @Test func takesAPauseThatOneTypeAskedForAsWell() {
    var machine = machine()
    _ = machine.report(.launch, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.synced(retryAfter: .seconds(100)), at: at(1), random: 0)
    #expect(machine.next(after: at(1)) == nil)
    _ = machine.report(.request, at: at(2))
    #expect(machine.step(at: at(2)) == .wait(until: .seconds(101)))
  }

  @Test func boundsWhatARemoteMayAskFor() {
    var machine = machine()
    _ = machine.report(.launch, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.failed(retryAfter: .seconds(10_000_000)), at: at(0), random: 0)
    #expect(machine.step(at: at(1)) == .wait(until: .seconds(24 * 3600)))
  }

  @Test func dropsWhatWasPlannedWhenTheNetworkGoes() {
    var machine = machine()
    _ = machine.report(.pushSignal, at: at(0))
    _ = machine.observe([.offline], at: at(1))
    #expect(machine.report(.request, at: at(0.5)) == .ignored(.offline))
    _ = machine.observe([.online], at: at(1))
    #expect(machine.next(after: at(10)) == nil)
  }

  @Test func countsNeitherAStopNorAMissingNetworkAsAFailure() {
    for ending in [TriggerMachine.Ending.stopped, .expired, .offline] {
      var machine = machine()
      _ = machine.report(.request, at: at(0))
      _ = machine.step(at: at(0))
      _ = machine.observe([ending == .offline ? .offline : .online], at: at(0))
      machine.finished(ending, at: at(1), random: 0)
      #expect(machine.record.failures == 0)
      #expect(machine.record.lastSuccess == nil)
      #expect(machine.step(at: at(100)) == .idle)
    }
  }

  @Test func takesAlongWhatComesBeforeARunThatHadToWaitBegins() {
    var machine = machine()
    _ = machine.report(.request, first: ["teams"], at: at(0))
    _ = machine.step(at: at(0))
    machine.absorb()
    #expect(machine.running?.triggers == [.request])
    #expect(machine.report(.request, first: ["games"], at: at(1)) == .follows)
    #expect(machine.report(.pushSignal, at: at(1)) == .follows)
    machine.absorb()
    #expect(machine.running?.triggers == [.request, .pushSignal])
    #expect(machine.running?.first == ["games", "teams"])
    machine.finished(.synced(retryAfter: nil), at: at(2), random: 0)
    #expect(machine.step(at: at(100)) == .idle)
  }

  // R2.7
  @Test func triesAgainWithoutNewsThatTheNetworkIsBack() {
    var machine = machine()
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    let next = NextSync(at: at(8.5).timestamp, triggers: [.retry], waitsFor: .failures(1))
    #expect(machine.finished(.offline, at: at(1), random: 0) == .planned(next))
    #expect(machine.step(at: at(8.5)) == run(.retry))
  }

  // R2.3
  @Test func owesASyncForWhatIsPassedOverAsOffline() {
    var machine = machine()
    _ = machine.report(.pushSignal, first: ["games"], at: at(0))
    _ = machine.observe([.offline], at: at(1))
    _ = machine.report(.request, at: at(0.5))
    _ = machine.report(.background(.refresh), at: at(0.5))
    #expect(machine.observe([.unknown], at: at(1)).map(\.trigger) == [.pushSignal, .request])
    #expect(machine.observe([.unknown], at: at(1)).isEmpty)
    // Any sync that is planned meanwhile is sufficient.
    _ = machine.observe([.offline], at: at(1))
    _ = machine.report(.request, at: at(1))
    _ = machine.observe([.online], at: at(1))
    _ = machine.report(.connectivityRestored, at: at(2))
    #expect(machine.observe([.unknown], at: at(2)).isEmpty)
  }

  // R2.3
  @Test func owesASyncForOneThatFoundTheNetworkGone() {
    var machine = machine()
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    _ = machine.observe([.offline], at: at(1))
    #expect(machine.finished(.offline, at: at(1), random: 0) == nil)
    #expect(machine.observe([.unknown], at: at(1)).map(\.trigger) == [.request])
  }

  /// Without an attempt's failure, its age keeps no later process from another one.
  @Test(arguments: [(SyncTrigger.background(.refresh), false), (.request, true)])
  func owesTheNextProcessASyncThatFoundTheNetworkGone(_ trigger: SyncTrigger, _ goesOn: Bool) {
    var machine = machine()
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.synced(retryAfter: nil), at: at(1), random: 0)
    _ = machine.report(trigger, at: at(100))
    _ = machine.step(at: at(100))
    _ = machine.observe([.offline], at: at(1))
    machine.finished(.offline, at: at(101), random: 0)
    var next = self.machine(SyncPacing(), machine.record, 102)
    _ = next.report(.launch, at: at(102))
    #expect(next.step(at: at(102)) == (goesOn ? run(.launch) : .idle))
    // That sync is an ordinary attempt.
    next.finished(.stopped, at: at(103), random: 0)
    #expect(next.step(at: at(104)) == .idle)
    if goesOn {
      #expect(next.report(.launch, at: at(104)) == .ignored(.fresh(until: at(402).timestamp)))
    }
  }

  @Test func owesASyncForWhatASyncWithoutANetworkWasToServe() {
    var machine = machine()
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.synced(retryAfter: nil), at: at(1), random: 0)
    _ = machine.report(.background(.refresh), at: at(400))
    _ = machine.step(at: at(400))
    _ = machine.report(.foreground, at: at(401))
    _ = machine.observe([.offline], at: at(1))
    machine.finished(.offline, at: at(402), random: 0)
    #expect(machine.observe([.unknown], at: at(403)).map(\.trigger) == [.foreground])
    #expect(machine.step(at: at(403)) == run(.foreground))
  }

  // R2.4, R2.5
  @Test func goesOnWithAFirstSyncThatTheEndOfTimeCutShort() {
    for trigger in [SyncTrigger.launch, .foreground, .requestIfStale(olderThan: .seconds(300))] {
      var machine = machine()
      _ = machine.report(.background(.refresh), at: at(0))
      _ = machine.step(at: at(0))
      #expect(machine.finished(.expired, at: at(1), random: 0) == nil)
      #expect(machine.record.lastAttempt == at(0).timestamp)
      var next = self.machine(SyncPacing(), machine.record, 2)
      _ = next.report(trigger, at: at(2))
      #expect(next.step(at: at(2)) == run(trigger))
      // That sync is an ordinary attempt.
      next.finished(.stopped, at: at(3), random: 0)
      #expect(next.report(.launch, at: at(4)) == .ignored(.fresh(until: at(302).timestamp)))
    }
  }

  @Test(arguments: [(SyncTrigger.background(.refresh), false), (.pushSignal, true), (.request, true)])
  func goesOnWithWhatWasAskedForAndCutShort(_ trigger: SyncTrigger, _ goesOn: Bool) {
    var machine = machine(SyncPacing(gathering: .zero))
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.synced(retryAfter: nil), at: at(1), random: 0)
    _ = machine.report(trigger, at: at(100))
    _ = machine.step(at: at(100))
    machine.finished(.expired, at: at(101), random: 0)
    _ = machine.report(.foreground, at: at(102))
    #expect(machine.step(at: at(102)) == (goesOn ? run(.foreground) : .idle))
  }

  @Test func goesOnAtOnceWhereTheAppCameBackMeanwhile() {
    var machine = machine()
    _ = machine.report(.launch, at: at(0))
    _ = machine.step(at: at(0))
    #expect(machine.report(.foreground, at: at(1)) == .ignored(.firstSyncIncomplete))
    machine.finished(.expired, at: at(2), random: 0)
    #expect(machine.step(at: at(2)) == run(.foreground))
  }

  @Test func takesTheForegroundAsAnyOtherOnceAFirstSyncWasGivenUp() {
    var machine = machine()
    #expect(machine.report(.foreground, at: at(0)) == .ignored(.firstSyncIncomplete))
    _ = machine.report(.launch, at: at(0))
    #expect(machine.report(.foreground, at: at(0)) == .ignored(.firstSyncIncomplete))
    _ = machine.step(at: at(0))
    machine.finished(.stopped, at: at(1), random: 0)
    #expect(machine.report(.foreground, at: at(2)) == .ignored(.fresh(until: at(300).timestamp)))
    _ = machine.report(.foreground, at: at(300))
    #expect(machine.step(at: at(300)) == run(.foreground))
  }

  @Test func goesOnWithThePausesOfAnEarlierProcess() {
    var first = machine()
    _ = first.report(.request, at: at(0))
    _ = first.step(at: at(0))
    first.finished(.failed(retryAfter: .seconds(50)), at: at(0), random: 0)
    var second = TriggerMachine()
    _ = second.begin(first.record, at: Moment(elapsed: .zero, timestamp: at(20).timestamp))
    #expect(
      second.next(after: Moment(elapsed: .zero, timestamp: at(20).timestamp))
        == NextSync(at: at(50).timestamp, triggers: [.retry], waitsFor: .remotePause))
    // A clock that was set back by a year does not extend the pause.
    var third = TriggerMachine()
    _ = third.begin(first.record, at: Moment(elapsed: .zero, timestamp: at(-365 * 86400).timestamp))
    #expect(third.step(at: at(1)) == .wait(until: .seconds(50)))
    // Nor does a pause of unknown length, as an older version of the library stored it, a year
    // long.
    var older = first.record
    older.pausedAt = nil
    var fourth = TriggerMachine()
    _ = fourth.begin(older, at: Moment(elapsed: .zero, timestamp: at(-365 * 86400).timestamp))
    #expect(fourth.step(at: at(1)) == .wait(until: .seconds(24 * 3600)))
  }

  /// A count at the end of its range would end the process at each start.
  @Test(arguments: [(Int.max, 1801.0), (-1, 8.5)])
  func bearsAnImpossibleNumberOfFailures(_ failures: Int, _ end: Double) throws {
    var record = PacingState()
    (record.failures, record.interruptedAt) = (failures, Self.start)
    let bytes = try JSONByteEncoder().encode(record)
    #expect(try JSONByteDecoder().decode(PacingState.self, from: bytes[...]) == record)
    var machine = machine(SyncPacing(), record)
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    machine.finished(.failed(retryAfter: nil), at: at(1), random: 0)
    #expect(machine.step(at: at(1)) == .wait(until: .seconds(end)))
  }

  // MARK: A network that comes and goes

  private func regained(_ seen: (Connectivity, Double)...) -> Duration? {
    var machine = machine()
    for (connectivity, second) in seen { _ = machine.observe([connectivity], at: at(second)) }
    return machine.regained
  }

  @Test func waitsForNothingWhenNothingWasLost() {
    #expect(regained() == nil)
    #expect(regained((.online, 1)) == nil)
    #expect(regained((.unknown, 1), (.online, 2), (.online, 3), (.unknown, 4)) == nil)
  }

  @Test func waitsFromTheLastReturnOn() {
    #expect(regained((.offline, 1), (.online, 2)) == .seconds(4.5))
    #expect(regained((.offline, 1), (.online, 2), (.offline, 3), (.online, 4)) == .seconds(6.5))
  }

  @Test func isNotPutOffByNewsThatAreNone() {
    #expect(regained((.offline, 1), (.online, 2), (.online, 3), (.unknown, 4)) == .seconds(4.5))
  }

  @Test func forgetsTheReturnWithTheNextLoss() {
    #expect(regained((.offline, 1), (.online, 2), (.offline, 3)) == nil)
  }

  @Test func countsAReturnOnceAndFromItsVeryMoment() {
    var machine = machine()
    _ = machine.observe([.offline], at: at(1))
    _ = machine.observe([.online], at: at(2))
    let answers = [4.499, 4.5, 4.5, 10].map { machine.observe([.online], at: at($0)).map(\.trigger) }
    #expect(answers == [[], [.connectivityRestored], [], []])
    #expect(machine.regained == nil)
    _ = machine.observe([.offline], at: at(10))
    _ = machine.observe([.online], at: at(11))
    #expect(machine.regained == .seconds(13.5))
  }

  // MARK: The age of the last attempt

  @Test(arguments: [
    (nil, true), (0.0, false), (1, false), (299, false), (300, true), (301, true), (-1, true),
  ])
  func isDueOnceTheLastAttemptIsOldEnough(_ age: Double?, _ isDue: Bool) {
    var record = PacingState()
    record.lastAttempt = age.map { at(1000 - $0).timestamp }
    var machine = machine(SyncPacing(), record, 1000)
    let decision = machine.report(.requestIfStale(olderThan: .seconds(300)), at: at(1000))
    #expect(
      decision
        == (isDue
          ? .planned(NextSync(at: at(1000).timestamp, triggers: [.requestIfStale(olderThan: .seconds(300))]))
          : .ignored(.fresh(until: at(1300 - (age ?? 0)).timestamp))))
  }

  @Test func forgetsATriggerThatIsTakenBack() {
    var machine = machine(SyncPacing(runs: 1))
    _ = machine.report(.request, at: at(0))
    _ = machine.step(at: at(0))
    _ = machine.report(.background(.refresh), at: at(1))
    _ = machine.report(.request, at: at(1))
    machine.withdraw(.background(.refresh))
    #expect(machine.next(after: at(1))?.triggers == [.request])
    machine.withdraw(.request)
    #expect(machine.next(after: at(1)) == nil)
  }
}
