import InMemoryAdapters
import SyncConformance
import Testing

@Suite("The checks of a port", .timeLimit(.minutes(10)))
struct FlawTests {
  @Test(arguments: FlawedStore.Flaw.allCases)
  func noticeAStoreThatBreaksAPromise(_ flaw: FlawedStore.Flaw) async throws {
    await #expect(throws: ConformanceFailure.self) {
      try await flaw.check.run(on: harness { FlawedStore(flaw, identity: $0, leaseClock: $1) })
    }
  }

  @Test(arguments: FlawedSource.Flaw.allCases)
  func noticeASourceThatBreaksAPromise(_ flaw: FlawedSource.Flaw) async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.supportsLookup = true
    let world = World(configuration)
    var harness = world.harness()
    harness.source = FlawedSource(flaw: flaw, base: world.remote)
    let flawed = harness
    await #expect(throws: (any Error).self) { try await flaw.check.run(on: flawed) }
  }

  @Test(arguments: FlawedSink.Flaw.allCases)
  func noticeASinkThatBreaksAPromise(_ flaw: FlawedSink.Flaw) async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.supportsLookup = true
    let world = World(configuration)
    var harness = world.sinkHarness()
    harness.sink = FlawedSink(flaw, base: world.remote)
    let flawed = harness
    await #expect(throws: ConformanceFailure.self) { try await flaw.check.run(on: flawed) }
  }

  @Test func noticeARemoteThatReachesBackTooLittle() async throws {
    let world = World(.timestampedCollection(overlap: .milliseconds(10)))
    await #expect(throws: ConformanceFailure.self) {
      try await SourceCheck.lateCommitIsFound.run(on: world.harness())
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
