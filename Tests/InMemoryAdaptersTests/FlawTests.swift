import InMemoryAdapters
import SyncConformance
import SyncModels
import Synchronization
import Testing

@Suite("The checks of a port", .timeLimit(.minutes(10)))
struct FlawTests {
  @Test(arguments: FlawedStore.Flaw.found)
  func noticeAStoreThatBreaksAPromise(_ flaw: FlawedStore.Flaw, in check: LocalStoreCheck) async throws {
    // An event that never comes is not waited for long. If the event itself shows the flaw, a busy
    // machine gets the time for it.
    let (limit, brief): (Duration, Duration) =
      flaw == .comparesFencesFirst ? (.seconds(120), .seconds(120)) : (.seconds(2), Patience.brief)
    await #expect(throws: ConformanceFailure.self) {
      try await Patience.$limit.withValue(limit) {
        try await Patience.$brief.withValue(brief) {
          _ = try await check.run(on: harness { FlawedStore(flaw, identity: $0, leaseClock: $1) })
        }
      }
    }
  }

  /// The checks of several handles, which a single flawed object cannot break.
  private static let checksOfHandles: [LocalStoreCheck] = [
    .handlesSeeEachOthersCommits, .changesOfOtherHandlesAreObserved, .concurrentWritesQueue,
    .leaseHasOneHolder, .racedLeaseHasOneHolder,
  ]

  @Test(arguments: checksOfHandles)
  func noticeHandlesThatShareNothing(_ check: LocalStoreCheck) async throws {
    let harness = LocalStoreHarness(
      open: { InMemoryStore() }, openAnother: { InMemoryStore(identity: "other") }, advanceLeaseClock: nil)
    await #expect(throws: ConformanceFailure.self) { try await check.run(on: harness) }
  }

  @Test func haveAFlawEach() {
    let noticed = Set(FlawedStore.Flaw.found.map(\.1) + Self.checksOfHandles)
    #expect(
      LocalStoreCheck.allCases.filter { !noticed.contains($0) } == [.reopenedStoreHoldsWhatWasCommitted])
    #expect(Set(FlawedSharedStore.Flaw.allCases.map(\.check)) == Set(SharedStoreCheck.allCases))
  }

  @Test(arguments: FlawedSharedStore.Flaw.allCases)
  func noticeASharedStoreThatBreaksAPromise(_ flaw: FlawedSharedStore.Flaw) async throws {
    let store = InMemoryStore()
    let commits = FlawedSharedStore.Commits()
    let harness = LocalStoreHarness(
      open: { FlawedSharedStore(flaw, store, commits) }, openAnother: { InMemoryStore(identity: "other") },
      advanceLeaseClock: nil)
    await Patience.$limit.withValue(.seconds(1)) {
      await #expect(throws: ConformanceFailure.self) { try await flaw.check.run(on: harness) }
    }
  }

  @Test func skipAStoreWithoutMarks() async throws {
    let outcome = try await SharedStoreCheck.markStaysWithoutCommits.run(on: harness(of: InMemoryStore.init))
    #expect(outcome == .skipped("The store has no marks of its commits."))
  }

  @Test(arguments: [
    LocalStoreCheck.readSeesOneUnchangingState, .readSeesNothingUncommitted, .readsRunBesideEachOther,
  ])
  func skipAStoreWhoseReadsWait(_ check: LocalStoreCheck) async throws {
    let harness = LocalStoreHarness(
      open: { InMemoryStore() }, openAnother: { InMemoryStore(identity: "other") }, advanceLeaseClock: nil,
      readsAreConcurrent: false)
    #expect(
      try await check.run(on: harness) == .skipped("The store's reads wait for other reads or for writes."))
  }

  @Test(arguments: FlawedSource.Flaw.allCases)
  func noticeASourceThatBreaksAPromise(_ flaw: FlawedSource.Flaw) async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.supportsLookup = true
    let world = World(configuration)
    var harness = world.harness()
    harness.source = FlawedSource(flaw: flaw, base: world.remote)
    harness.reopen = { FlawedSource(flaw: flaw, base: world.again().remote, isReopened: true) }
    let flawed = harness
    if flaw == .failsOnVoidTokens {
      // The source's own error, where it promised none.
      await #expect(throws: SyncError.self) { try await flaw.check.run(on: flawed) }
    } else {
      await #expect(throws: ConformanceFailure.self) { try await flaw.check.run(on: flawed) }
    }
  }

  @Test(arguments: FlawedSink.Flaw.allCases.flatMap { flaw in flaw.checks.map { (flaw, $0) } })
  func noticeASinkThatBreaksAPromise(_ flaw: FlawedSink.Flaw, _ check: SinkCheck) async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.supportsLookup = true
    let world = World(configuration)
    var harness = world.sinkHarness()
    harness.sink = FlawedSink(flaw, base: world.remote)
    harness.reopen = { FlawedSink(flaw, base: world.remote) }
    let flawed = harness
    await #expect(throws: ConformanceFailure.self) { try await check.run(on: flawed) }
  }

  /// A check that no flaw names may be one that cannot fail.
  @Test func ofSourcesAndSinksAreEachSeenToFail() {
    // Below.
    let seen: Set<SourceCheck> = [.lateCommitIsFound]
    #expect(Set(SourceCheck.allCases).subtracting(FlawedSource.Flaw.allCases.map(\.check)) == seen)
    #expect(Set(SinkCheck.allCases).subtracting(FlawedSink.Flaw.allCases.flatMap(\.checks)) == [])
  }

  @Test func noticeARemoteThatReachesBackTooLittle() async throws {
    let world = World(.timestampedCollection(overlap: .milliseconds(10)))
    await #expect(throws: ConformanceFailure.self) {
      try await SourceCheck.lateCommitIsFound.run(on: world.harness())
    }
  }

  @Test func noticeAStoreThatIsKeptOnlyWhileItIsOpen() async throws {
    let stores = Mutex<InMemoryStore?>(nil)
    let kept = LocalStoreHarness(
      open: {
        stores.withLock { store in
          let opened = store ?? InMemoryStore()
          store = opened
          return opened
        }
      }, openAnother: { InMemoryStore(identity: "other") }, advanceLeaseClock: nil, isDurable: true,
      close: { _ in stores.withLock { $0 = nil } })
    await #expect(throws: ConformanceFailure.self) {
      try await LocalStoreCheck.reopenedStoreHoldsWhatWasCommitted.run(on: kept)
    }
  }

  @Test func noticeThatNothingIsKeptForALaterProcess() async throws {
    let clock = ManualClock()
    let forgetful = LocalStoreHarness(
      open: { InMemoryStore(leaseClock: { clock.timestamp }) },
      openAnother: { InMemoryStore(identity: "other") },
      advanceLeaseClock: { clock.advance(by: $0) }, isDurable: true)
    await #expect(throws: ConformanceFailure.self) {
      try await LocalStoreCheck.reopenedStoreHoldsWhatWasCommitted.run(on: forgetful)
    }
  }
}
