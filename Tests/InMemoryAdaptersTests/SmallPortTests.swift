import CanonicalSync
import InMemoryAdapters
import SyncConformance
import Testing

/// The checks of the ports that have few calls each.
@Suite("The checks of the small ports", .timeLimit(.minutes(10)))
struct SmallPortTests {
  /// A check waits no longer for an event that never comes.
  private func notices(_ run: () async throws -> Void) async {
    await #expect(throws: ConformanceFailure.self) {
      try await Patience.$limit.withValue(.seconds(2)) { try await run() }
    }
  }

  @Test(arguments: FlawedClock.Flaw.allCases)
  func noticeAClockThatBreaksAPromise(_ flaw: FlawedClock.Flaw) async {
    let clock = FlawedClock(flaw)
    let harness = ClockHarness(clock: clock, advance: { clock.advance(by: $0) })
    await notices { _ = try await flaw.check.run(on: harness) }
  }

  @Test(arguments: FlawedToken.Flaw.allCases)
  func noticeATokenThatBreaksAPromise(_ flaw: FlawedToken.Flaw) async {
    let token = FlawedToken(flaw)
    let harness = CancellationTokenHarness(token: token, cancel: { token.cancel() })
    await notices { _ = try await flaw.check.run(on: harness) }
  }

  @Test(arguments: FlawedSettings.Flaw.allCases)
  func noticeSettingsThatBreakAPromise(_ flaw: FlawedSettings.Flaw) async {
    let settings = FlawedSettings(flaw)
    let harness = LegacySettingsHarness(
      settings: settings, fill: { settings.base.dictionaries[$0] = $1 },
      spoil: { settings.base.failure = SyncError(.storeUnreadable, during: "reading \($0)") })
    await notices { _ = try await flaw.check.run(on: harness) }
  }

  @Test(arguments: FlawedSalvage.Flaw.allCases)
  func noticeASalvageThatBreaksAPromise(_ flaw: FlawedSalvage.Flaw) async {
    await notices { _ = try await flaw.check.run(on: FlawedSalvage(flaw).harness) }
  }

  @Test(arguments: FlawedVerification.Flaw.allCases)
  func noticeAVerificationThatBreaksAPromise(_ flaw: FlawedVerification.Flaw) async {
    await notices { _ = try await flaw.check.run(on: FlawedVerification(flaw).harness) }
  }

  /// Any store can be salvaged through its port.
  @Test(arguments: SalvageCheck.allCases)
  func keepsThePromisesOfASalvageSource(_ check: SalvageCheck) async throws {
    #expect(try await check.run(on: FlawedSalvage(nil).harness) == .kept)
  }

  @Test(arguments: VerificationCheck.allCases)
  func keepsThoseOfAVerifiableStore(_ check: VerificationCheck) async throws {
    #expect(try await check.run(on: FlawedVerification(nil).harness) == .kept)
  }

  /// A check that no flaw names may be one that cannot fail.
  @Test func areEachSeenToFail() {
    #expect(Set(FlawedClock.Flaw.allCases.map(\.check)) == Set(ClockCheck.allCases))
    #expect(Set(FlawedToken.Flaw.allCases.map(\.check)) == Set(CancellationTokenCheck.allCases))
    #expect(Set(FlawedSettings.Flaw.allCases.map(\.check)) == Set(LegacySettingsCheck.allCases))
    #expect(Set(FlawedSalvage.Flaw.allCases.map(\.check)) == Set(SalvageCheck.allCases))
    #expect(Set(FlawedVerification.Flaw.allCases.map(\.check)) == Set(VerificationCheck.allCases))
  }

  /// Checks that need more than the harness has.
  @Test func areSkippedWithoutTheirMeans() async throws {
    let salvage = FlawedSalvage(nil)
    var harness = salvage.harness
    (harness.damage, harness.destroy) = (nil, nil)
    let verification = VerificationHarness(open: { FlawedVerification(nil) })
    let settings = LegacySettingsHarness(settings: InMemoryLegacySettings(), fill: { _, _ in })
    for outcome in [
      try await SalvageCheck.whatIsMissingIsListed.run(on: harness),
      try await SalvageCheck.lostStoreIsTold.run(on: harness),
      try await VerificationCheck.contradictionsAreFound.run(on: verification),
      try await VerificationCheck.limitIsKept.run(on: verification),
      try await LegacySettingsCheck.unreadableDictionaryIsTold.run(on: settings),
    ] {
      guard case .skipped(let reason) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(reason.hasPrefix("The harness cannot"))
    }
  }
}
