import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncJSON
import Synchronization
import Testing

@testable import SyncCore

@Suite("Work in the background", .timeLimit(.minutes(10)))
struct BackgroundTests {
  @Test func isAskedForAnHourAheadAndForTwoAtNight() {
    let policy = BackgroundPolicy()
    #expect(
      policy.request(for: .refresh) == BackgroundRequest(.refresh, earliest: .after(.seconds(3600))))
    #expect(
      policy.request(for: .processing)
        == BackgroundRequest(
          .processing, earliest: .next(TimeOfDay(hour: 2)), needsNetwork: true, needsExternalPower: true))
    #expect(!BackgroundPolicy(processingNeedsPower: false).request(for: .processing).needsExternalPower)
  }

  // R2.5
  @Test func waitsForExternalPowerWhereItIsHeavy() async throws {
    let world = try await CoordinatorWorld()
    world.scheduler.hasExternalPower = false
    await world.running {
      world.signal(.background)
      world.time.pass(until: .seconds(9000))
      #expect(Set(world.scheduler.begun.map(\.kind)) == [.refresh])
      world.scheduler.hasExternalPower = true
      world.time.settle()
      #expect(world.scheduler.begun.last?.kind == .processing)
    }
    #expect(world.isQuiet)
  }

  @Test func isReadAsItWasWrittenBeforeItToldOfPower() throws {
    let request = BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: 2)), needsNetwork: true)
    let bytes = try JSONByteEncoder().encode(request)
    #expect(try JSONByteDecoder().decode(BackgroundRequest.self, from: bytes[...]) == request)
    let old = String(decoding: bytes, as: UTF8.self)
      .replacing(#","needsExternalPower":false"#, with: "")
    #expect(!old.contains("Power"))
    #expect(try JSONByteDecoder().decode(BackgroundRequest.self, from: Array(old.utf8)[...]) == request)
  }

  // R2.5
  @Test func thatCutTheFirstSyncShortIsMadeGoodInTheForeground() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(10), limit: .seconds(5))
    world.remote.upsert("teams", "t", #"{"id":"t"}"#)
    await world.play(
      [.init(0, .background), .init(3599, .request), .init(3700, .foreground)], until: 3800)
    #expect(world.runs == [3599, 3700])
    #expect(world.store.records(of: "teams").count == 1)
  }

  @Test(arguments: [CoordinatorWorld.Signal.launch, .background])
  func isAskedForAtLaunchAndWheneverTheAppGoesThere(_ signal: CoordinatorWorld.Signal) async throws {
    let world = try await CoordinatorWorld()
    let start = world.clock.timestamp
    await world.play([.init(0, .foreground), .init(1, .request)], until: 10)
    #expect(world.scheduler.pending.isEmpty)
    await world.play([.init(10, signal)], until: 20)
    #expect(world.scheduler.pending[.refresh]?.begin == start + .seconds(3610))
    #expect(world.scheduler.pending[.processing]?.begin == start + .seconds(2 * 3600))
    await world.play([.init(30, signal)], until: 40)
    #expect(world.scheduler.pending[.refresh]?.begin == start + .seconds(3630))
  }

  @Test func isAskedForAgainBeforeItRuns() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(10))
    await world.running {
      world.signal(.background)
      world.time.pass(until: .seconds(3601))
      #expect(world.coordinator.status.state == .syncing([.background(.refresh)]))
      #expect(world.scheduler.pending[.refresh] != nil)
      #expect(world.scheduler.begun.map(\.outcome) == [nil])
      world.time.pass(until: .seconds(3700))
      #expect(world.scheduler.begun.map(\.outcome) == [.succeeded])
    }
  }

  @Test func cleansUpAfterTheSyncOfTheNight() async throws {
    let pulls = Mutex<[Int]>([])
    let remote = Mutex<InMemoryRemote?>(nil)
    let world = try await CoordinatorWorld(
      options: SyncCoordinator.Options(background: BackgroundPolicy(refreshAfter: .seconds(36 * 3600))),
      cleanUp: { _ throws(SyncError) in
        pulls.withLock { $0.append(remote.withLock { $0?.counters().requests ?? -1 }) }
      })
    remote.withLock { $0 = world.remote }
    await world.play([.init(0, .launch)], until: 3 * 3600)
    #expect(world.runs == [0, 2 * 3600])
    #expect(pulls.withLock { $0 } == [4])
  }

  @Test(arguments: BackgroundRequest.Kind.allCases)
  func endsAtTheNextPageWhenTheTimeIsUpAndThatIsASuccess(_ kind: BackgroundRequest.Kind) async throws {
    let cleanUps = Mutex(0)
    let refresh: Duration = kind == .refresh ? .seconds(3600) : .seconds(360_000)
    let world = try await CoordinatorWorld(
      latency: .seconds(1), limit: .seconds(4.5),
      engineOptions: SyncOptions(pageSize: 5, pagesAhead: 0),
      options: SyncCoordinator.Options(background: BackgroundPolicy(refreshAfter: refresh)),
      cleanUp: { _ throws(SyncError) in cleanUps.withLock { $0 += 1 } })
    for number in 1...50 { world.remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)"}"#) }
    let hours = kind == .refresh ? 1 : 2
    await world.play([.init(0, .background)], until: Double(hours * 3600 + 60))
    #expect(world.scheduler.begun.map(\.kind) == [kind])
    #expect(world.scheduler.begun.map(\.outcome) == [.succeeded])
    #expect(world.store.records(of: "teams").count == 20)
    #expect(world.coordinator.status.lastProblem == .stopped)
    #expect(cleanUps.withLock { $0 } == 0)
    #expect(world.events.contains { if case .expired(kind) = $0.event { true } else { false } })
  }

  @Test func givesUpItsTurnWhenTheTimeIsUpBeforeItCame() async throws {
    let pacing = SyncPacing(runs: 1, window: .seconds(60))
    let world = try await CoordinatorWorld(
      limit: .seconds(5), options: SyncCoordinator.Options(pacing: pacing))
    await world.play([.init(0, .background), .init(3590, .request)], until: 3700)
    #expect(world.runs == [3590])
    #expect(world.scheduler.begun.map(\.outcome) == [.succeeded])
    #expect(world.isQuiet)
  }

  @Test func sharesTheTurnOfTheFirstCaller() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(10))
    await world.play([.init(0, .background), .init(3595, .request)], until: 3700)
    #expect(world.runs == [3595, 3615])
    #expect(world.scheduler.begun.map(\.outcome) == [.succeeded])
  }

  @Test(arguments: [
    (SyncError.Code.remoteUnavailable, BackgroundOutcome.succeeded), (.authentication, .failed),
  ])
  func failsOnlyWhereAPersonHasToSeeToIt(
    _ code: SyncError.Code, _ outcome: BackgroundOutcome
  ) async throws {
    let world = try await CoordinatorWorld()
    world.remote.behave(.fail(SyncError(code, during: "asking")), onNext: 1)
    await world.play([.init(0, .background)], until: 3601)
    #expect(world.scheduler.begun.map(\.outcome) == [outcome])
  }

  @Test func waitsForTheNetworkWhereItNeedsIt() async throws {
    let world = try await CoordinatorWorld()
    await world.play([.init(0, .background), .init(1, .offline), .init(9000, .online)], until: 9100)
    #expect(world.scheduler.begun.filter { $0.kind == .processing }.map(\.outcome) == [.succeeded])
    // The refreshes had no network, and the processing request waited for it.
    #expect(world.runs == [9000, 9002.5])
  }

  @Test func thatIsRefusedChangesNothingElse() async throws {
    let world = try await CoordinatorWorld()
    world.scheduler.refusal = SyncError(.invalidConfiguration, during: "submitting")
    await world.play([.init(0, .launch)], until: 5)
    #expect(world.runs == [0])
    #expect(world.events.count { if case .notSubmitted = $0.event { true } else { false } } == 2)
  }
}
