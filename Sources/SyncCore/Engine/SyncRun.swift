import SyncModels
import SyncPorts

/// One sync from its lease to its result.
struct SyncRun {
  let environment: RunEnvironment
  let request: SyncRequest
  let scope: SyncScope
  let stop: StopSignal

  /// The phases of the sync, in their order.
  private var phases: [any SyncPhase] {
    let sink = request.direction == .pull ? nil : environment.sink
    var phases: [any SyncPhase] = [
      DeclarationRelease(), UpgradeReplay(), SourceExchange(), CircleReview(), AwaitedRelease(),
    ]
    if let sink { phases.append(PushPhase(sink: sink)) }
    if request.direction == .push { return phases }
    phases.append(PullPhase())
    if let sink { phases.append(SuspectPhase(sink: sink)) }
    phases += [DeclarationWithholding(), SweepPhase(), LoserReview(), ArrivalCollapse()]
    if let sink { phases.append(LoserDeletion(sink: sink)) }
    return phases
  }

  /// Syncs, and always releases the lease afterwards.
  ///
  /// - Parameter first: The types that go first, the most urgent one first.
  func perform(first: [RecordType]) async throws(SyncError) -> SyncResult {
    if let offline = environment.offline { throw offline }
    environment.priorities.begin(first)
    // A stop cancels the task of all that follows, so every wait ends by itself.
    let result = await stop.cancelling(clock: environment.clock) { () -> Result<SyncResult, SyncError> in
      do throws(SyncError) {
        return .success(try await performUntilStopped())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func performUntilStopped() async throws(SyncError) -> SyncResult {
    let elapsed = environment.clock.stopwatch()
    guard let lease = try await acquireLease() else {
      return SyncProgress(order: []).finished(after: elapsed(), wasCancelled: true)
    }
    let (store, duration) = (environment.store, environment.options.leaseDuration)
    return try await LeaseKeeper.hold(lease, of: store, clock: environment.clock, for: duration) {
      (lease) throws(SyncError) in
      environment.emit(.started(fence: lease.fence))
      note { $0.lastBegin = $1 }
      var session = SyncSession(environment, request, types: scope.types, lease: lease, stop: stop)
      let end = try await run(in: &session)
      if end == .finished { note { $0.lastSuccess = $1 } }
      return session.progress.finished(after: elapsed(), wasCancelled: end == .stopped)
    }
  }

  /// Runs the phases, and stores the failures of types, however the sync ends.
  private func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    do throws(SyncError) {
      var end = PhaseEnd.finished
      for phase in phases where end == .finished { end = try await phase.run(in: &session) }
      await remember(session.progress.result.failures, in: session)
      return end
    } catch {
      await remember(session.progress.result.failures + session.failing.map { ($0, error) }, in: session)
      throw error
    }
  }

  private func remember(
    _ failures: [(type: RecordType, error: SyncError)], in session: SyncSession
  ) async {
    guard !failures.isEmpty else { return }
    let now = environment.clock.timestamp
    // The caller receives the failure itself, so an error while saving it changes nothing.
    try? await session.write { (transaction) throws(SyncError) in
      for (type, error) in failures {
        var status = try TypeStatus.load(for: type, from: transaction)
        status.noteFailure(error, at: now)
        try status.save(for: type, in: transaction)
      }
    }
  }

  /// Reports this attempt to a coordinator, if it covers all types.
  private func note(_ change: (inout Attempts, Timestamp) -> Void) {
    guard scope.pulls, scope.types.count == environment.schema.entities.count else { return }
    var attempts = environment.attempts.value
    change(&attempts, environment.clock.timestamp)
    environment.attempts.send(attempts)
  }

  /// The interval between requests for a lease that another process holds.
  private static let leaseInterval = Duration.seconds(1)

  /// Acquires the lease, and waits for another process up to the request's patience.
  ///
  /// - Returns: The lease; `nil` after a request to stop.
  private func acquireLease() async throws(SyncError) -> Lease? {
    let (store, clock) = (environment.store, environment.clock)
    let waited = clock.stopwatch()
    while true {
      do throws(SyncError) {
        return try await store.acquireLease(for: environment.options.leaseDuration)
      } catch {
        let left = request.patience - waited()
        guard error.code == .syncAlreadyInProgress, request.ifBusy != .refuse, left > .zero else {
          throw error
        }
        // A pause is cut short only by a stop.
        guard (try? await clock.pause(for: min(left, Self.leaseInterval))) != nil, !stop.isRaised else {
          return nil
        }
      }
    }
  }
}
