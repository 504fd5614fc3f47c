import CanonicalSyncTestExecutors
import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Synchronization
import Testing

/// A monitor that breaks one promise.
private final class FlawedMonitor: ConnectivityMonitor {
  enum Flaw: String, CaseIterable, Sendable {
    case beginsWithNothingKnown, tellsLate, repeatsItself, keepsOnlyTheNewest, sharesOneStream

    var check: ConnectivityCheck {
      switch self {
      case .beginsWithNothingKnown: .streamBeginsWithTheStatusNow
      case .tellsLate: .statusTellsWhatIsSo
      case .repeatsItself: .sameStatusIsNoChange
      case .keepsOnlyTheNewest: .lossIsSeenByASlowListener
      case .sharesOneStream: .eachStreamIsItsOwn
      }
    }
  }

  private struct State {
    var status = NetworkStatus(.online)
    var shown = NetworkStatus(.online)
    var streams: [AsyncStream<NetworkStatus>.Continuation] = []
  }
  private let flaw: Flaw
  private let state = Mutex(State())

  init(_ flaw: Flaw) {
    self.flaw = flaw
  }

  var status: NetworkStatus { state.withLock { $0.shown } }

  func become(_ connectivity: Connectivity) {
    state.withLock { state in
      let before = state.status
      state.status = NetworkStatus(connectivity)
      state.shown = flaw == .tellsLate ? before : state.status
      guard before != state.status || flaw == .repeatsItself else { return }
      let streams = flaw == .sharesOneStream ? Array(state.streams.suffix(1)) : state.streams
      for stream in streams { stream.yield(state.status) }
    }
  }

  func statuses() -> AsyncStream<NetworkStatus> {
    let policy = AsyncStream<NetworkStatus>.Continuation.BufferingPolicy.bufferingNewest(
      flaw == .keepsOnlyTheNewest ? 1 : 16)
    let (stream, continuation) = AsyncStream.makeStream(of: NetworkStatus.self, bufferingPolicy: policy)
    state.withLock { state in
      state.streams.append(continuation)
      continuation.yield(flaw == .beginsWithNothingKnown ? NetworkStatus(.unknown) : state.status)
    }
    return stream
  }
}

/// A scheduler that breaks one promise, on top of one that keeps them.
private final class FlawedScheduler: BackgroundScheduler {
  enum Flaw: String, CaseIterable, Sendable {
    case beginsAtOnce, keepsTheFirstRequest, forgetsTheOtherKind, forgetsItsToken, ignoresTheNetwork
    case ignoresThePower, doesNotWaitForItsWork

    var check: SchedulerCheck {
      switch self {
      case .beginsAtOnce: .requestBeginsNoEarlierThanItSays
      case .keepsTheFirstRequest: .laterRequestReplacesTheOneOfItsKind
      case .forgetsTheOtherKind: .kindsAreKeptApart
      case .forgetsItsToken: .expirationCancelsAndIsWaitedFor
      case .ignoresTheNetwork: .networkIsWaitedForWhereItIsNeeded
      case .ignoresThePower: .powerIsWaitedForWhereItIsNeeded
      case .doesNotWaitForItsWork: .cancelledRunWaitsAndKeepsThePending
      }
    }
  }

  private let flaw: Flaw
  private let base: InMemoryScheduler
  private let clock: ManualClock

  init(_ flaw: Flaw, _ base: InMemoryScheduler, _ clock: ManualClock) {
    (self.flaw, self.base, self.clock) = (flaw, base, clock)
  }

  func submit(_ request: BackgroundRequest) throws(SyncError) -> Timestamp {
    var request = request
    switch flaw {
    case .beginsAtOnce:
      request.earliest = .after(.zero)
      return try base.submit(request) + .seconds(600)
    case .keepsTheFirstRequest:
      if let pending = base.pending[request.kind] { return pending.begin }
    case .forgetsTheOtherKind:
      if request.kind == .processing { request.kind = .refresh }
    case .ignoresTheNetwork:
      request.needsNetwork = false
    case .ignoresThePower:
      request.needsExternalPower = false
    case .forgetsItsToken, .doesNotWaitForItsWork:
      break
    }
    return try base.submit(request)
  }

  func run(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    let flaw = flaw
    await base.run { kind, token in
      switch flaw {
      case .forgetsItsToken:
        return await work(kind, CancellationSource())
      case .doesNotWaitForItsWork:
        Task { await work(kind, token) }
        return .succeeded
      default:
        return await work(kind, token)
      }
    }
  }
}

@Suite("The checks of the triggers' ports", .timeLimit(.minutes(10)))
struct FlawedDoublesTests {
  @Test(arguments: FlawedMonitor.Flaw.allCases)
  fileprivate func noticeAMonitorThatBreaksAPromise(_ flaw: FlawedMonitor.Flaw) async throws {
    let monitor = FlawedMonitor(flaw)
    let harness = ConnectivityHarness(monitor: monitor, become: { monitor.become($0) })
    // A check waits no longer for an event that never comes.
    await #expect(throws: ConformanceFailure.self) {
      try await Patience.$limit.withValue(.seconds(2)) { _ = try await flaw.check.run(on: harness) }
    }
  }

  @Test(arguments: FlawedScheduler.Flaw.allCases)
  fileprivate func noticeASchedulerThatBreaksAPromise(_ flaw: FlawedScheduler.Flaw) async throws {
    let clock = ManualClock()
    let connectivity = ManualConnectivity()
    let base = InMemoryScheduler(clock: clock, connectivity: connectivity)
    let harness = SchedulerHarness(
      scheduler: FlawedScheduler(flaw, base, clock), now: { clock.timestamp },
      pass: { clock.advance(by: $0) }, expire: { base.expire() },
      setOnline: { connectivity.connectivity = $0 ? .online : .offline },
      setPowered: { base.hasExternalPower = $0 })
    // A check waits no longer for an event that never comes. On one thread, no time passes before
    // every task has run.
    await #expect(throws: ConformanceFailure.self) {
      try await Patience.$limit.withValue(.seconds(2)) {
        try await OneThread.run { _ = try await flaw.check.run(on: harness) }
      }
    }
  }
}
