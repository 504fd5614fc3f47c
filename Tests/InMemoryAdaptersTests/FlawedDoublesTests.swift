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
    case beginsWithNothingKnown, tellsLate, repeatsItself, keepsOnlyTheNewest, keepsThirteen, sharesOneStream
    case hidesLosses, keepsStreams

    var check: ConnectivityCheck {
      switch self {
      case .beginsWithNothingKnown: .streamBeginsWithTheStatusNow
      case .tellsLate: .statusTellsWhatIsSo
      case .repeatsItself: .sameStatusIsNoChange
      case .keepsOnlyTheNewest, .keepsThirteen: .lossIsSeenByASlowListener
      case .sharesOneStream: .eachStreamIsItsOwn
      case .hidesLosses: .changesComeInTheirOrder
      case .keepsStreams: .endedStreamLeavesNothingBehind
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
  /// The streams that were ever in use.
  var streams: Int { state.withLock { $0.streams.count } }

  func become(_ connectivity: Connectivity) {
    state.withLock { state in
      let before = state.status
      state.status = NetworkStatus(connectivity)
      state.shown = flaw == .tellsLate ? before : state.status
      guard before != state.status || flaw == .repeatsItself else { return }
      if flaw == .hidesLosses, connectivity == .offline { return }
      let streams = flaw == .sharesOneStream ? Array(state.streams.suffix(1)) : state.streams
      for stream in streams { stream.yield(state.status) }
    }
  }

  func statuses() -> AsyncStream<NetworkStatus> {
    let policy = AsyncStream<NetworkStatus>.Continuation.BufferingPolicy.bufferingNewest(
      flaw == .keepsOnlyTheNewest ? 1 : flaw == .keepsThirteen ? 13 : 16)
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
    case ignoresThePower, doesNotWaitForItsWork, abandonsExpiredWork, ignoresCancellation
    case takesNothingDuringItsRun, tellsTheTimeThatIsOver, forgetsWhatTheWorkSubmits, beginsAgainMeanwhile

    var check: SchedulerCheck {
      switch self {
      case .beginsAtOnce: .requestBeginsNoEarlierThanItSays
      case .keepsTheFirstRequest: .laterRequestReplacesTheOneOfItsKind
      case .forgetsTheOtherKind: .kindsAreKeptApart
      case .forgetsItsToken: .expirationCancelsAndIsWaitedFor
      case .ignoresTheNetwork: .networkIsWaitedForWhereItIsNeeded
      case .ignoresThePower: .powerIsWaitedForWhereItIsNeeded
      case .doesNotWaitForItsWork, .ignoresCancellation: .cancelledRunWaitsAndKeepsThePending
      case .abandonsExpiredWork: .expirationCancelsAndIsWaitedFor
      case .takesNothingDuringItsRun: .requestIsTakenWhileItRuns
      case .tellsTheTimeThatIsOver: .timeOfDayIsTheNextOne
      case .forgetsWhatTheWorkSubmits: .workSubmitsTheNextOfItsKind
      case .beginsAgainMeanwhile: .oneKindRunsOnceAtATime
      }
    }
  }

  private let flaw: Flaw
  private let base: InMemoryScheduler
  private let clock: ManualClock
  private let state = Mutex((isRunning: false, isWorking: false))

  init(_ flaw: Flaw, _ base: InMemoryScheduler, _ clock: ManualClock) {
    (self.flaw, self.base, self.clock) = (flaw, base, clock)
  }

  func submit(_ request: BackgroundRequest) throws(SyncError) -> Timestamp {
    var request = request
    let (isRunning, isWorking) = state.withLock { $0 }
    switch flaw {
    case .takesNothingDuringItsRun where isRunning, .forgetsWhatTheWorkSubmits where isWorking:
      return clock.timestamp
    case .tellsTheTimeThatIsOver:
      return try base.submit(request) + .seconds(-48 * 3600)
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
    default: break
    }
    return try base.submit(request)
  }

  func run(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    state.withLock { $0.isRunning = true }
    if flaw == .ignoresCancellation {
      // The run of a task that nothing cancels.
      await Task { await serve(work) }.value
    } else {
      await serve(work)
    }
  }

  private func serve(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    await base.run { kind, token in
      switch self.flaw {
      case .forgetsItsToken:
        return await work(kind, CancellationSource())
      case .doesNotWaitForItsWork, .beginsAgainMeanwhile:
        Task(executorPreference: OneThread.current) { await work(kind, token) }
        return .succeeded
      case .abandonsExpiredWork:
        Task(executorPreference: OneThread.current) { await work(kind, token) }
        if let own = token as? CancellationSource { await own.waitUntilCancelled() }
        return .failed
      default:
        self.state.withLock { $0.isWorking = true }
        defer { self.state.withLock { $0.isWorking = false } }
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
    let harness = ConnectivityHarness(
      monitor: monitor, become: { monitor.become($0) }, followers: { monitor.streams })
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
        try await OneThread.run { _ = try await flaw.check.run(on: harness.here) }
      }
    }
  }

  /// A check that no flaw names may be one that cannot fail.
  @Test func ofThesePortsAreEachSeenToFail() {
    #expect(Set(FlawedMonitor.Flaw.allCases.map(\.check)) == Set(ConnectivityCheck.allCases))
    #expect(Set(FlawedScheduler.Flaw.allCases.map(\.check)) == Set(SchedulerCheck.allCases))
  }
}
