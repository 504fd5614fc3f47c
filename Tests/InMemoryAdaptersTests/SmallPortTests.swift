import CanonicalSync
import CanonicalSyncTestExecutors
import InMemoryAdapters
import SyncConformance
import Testing

/// The checks of the ports that have few calls each.
@Suite("The checks of the small ports", .timeLimit(.minutes(10)))
struct SmallPortTests {
  /// A check waits no longer for an event that never comes.
  private func notices(within limit: Duration = .seconds(2), _ run: () async throws -> Void) async {
    await #expect(throws: ConformanceFailure.self) {
      try await Patience.$limit.withValue(limit) { try await run() }
    }
  }

  @Test(arguments: FlawedClock.Flaw.allCases)
  func noticeAClockThatBreaksAPromise(_ flaw: FlawedClock.Flaw) async {
    let clock = FlawedClock(flaw)
    // On one thread, no time passes before every task has run.
    await notices {
      try await OneThread.run {
        var harness = ClockHarness(clock: clock, advance: { clock.advance(by: $0) })
        harness.executor = OneThread.current
        _ = try await flaw.check.run(on: harness)
      }
    }
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
      fill: { settings.base.dictionaries[$0] = $1 }, open: { settings },
      damage: { settings.base.failure = SyncError(.storeUnreadable, during: "reading \($0)") })
    await notices { _ = try await flaw.check.run(on: harness) }
  }

  @Test(arguments: FlawedSalvage.Flaw.allCases)
  func noticeASalvageThatBreaksAPromise(_ flaw: FlawedSalvage.Flaw) async {
    await notices { _ = try await flaw.check.run(on: FlawedSalvage(flaw).harness) }
  }

  @Test(arguments: FlawedVerifiableStore.Flaw.allCases)
  func noticeAVerificationThatBreaksAPromise(_ flaw: FlawedVerifiableStore.Flaw) async {
    // A write shows this flaw as soon as it comes.
    let limit: Duration = flaw == .findsWhatIsWritten ? .seconds(120) : .seconds(2)
    await notices(within: limit) { _ = try await flaw.check.run(on: FlawedVerifiableStore(flaw).harness) }
  }

  /// Any store can be salvaged through its port.
  @Test(arguments: SalvageCheck.allCases)
  func keepsThePromisesOfASalvageSource(_ check: SalvageCheck) async throws {
    #expect(try await check.run(on: FlawedSalvage(nil).harness) == .kept)
  }

  @Test(arguments: VerifiableStoreCheck.allCases)
  func keepsThoseOfAVerifiableStore(_ check: VerifiableStoreCheck) async throws {
    #expect(try await check.run(on: FlawedVerifiableStore(nil).harness) == .kept)
  }

  /// A check that no flaw names may be one that cannot fail.
  @Test func areEachSeenToFail() {
    #expect(Set(FlawedClock.Flaw.allCases.map(\.check)) == Set(ClockCheck.allCases))
    #expect(Set(FlawedToken.Flaw.allCases.map(\.check)) == Set(CancellationTokenCheck.allCases))
    #expect(Set(FlawedSettings.Flaw.allCases.map(\.check)) == Set(LegacySettingsCheck.allCases))
    #expect(Set(FlawedSalvage.Flaw.allCases.map(\.check)) == Set(SalvageCheck.allCases))
    #expect(Set(FlawedVerifiableStore.Flaw.allCases.map(\.check)) == Set(VerifiableStoreCheck.allCases))
  }

  /// Checks that need more than the harness has.
  @Test func areSkippedWithoutTheirMeans() async throws {
    let salvage = FlawedSalvage(nil)
    var harness = salvage.harness
    (harness.damage, harness.destroy) = (nil, nil)
    let verifiable = VerifiableStoreHarness(open: { FlawedVerifiableStore(nil) })
    let settings = LegacySettingsHarness(fill: { _, _ in }, open: { InMemoryLegacySettings() })
    for outcome in [
      try await SalvageCheck.missingEntriesAreListed.run(on: harness),
      try await SalvageCheck.damagedStoreStaysAsItIs.run(on: harness),
      try await SalvageCheck.lostStoreIsAnError.run(on: harness),
      try await VerifiableStoreCheck.contradictionsAreFound.run(on: verifiable),
      try await VerifiableStoreCheck.limitIsKept.run(on: verifiable),
      try await VerifiableStoreCheck.unreadablePartIsAFinding.run(on: verifiable),
      try await LegacySettingsCheck.unreadableDictionaryIsAnError.run(on: settings),
    ] {
      guard case .skipped(let reason) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(reason.hasPrefix("The harness cannot"))
    }
  }
}
