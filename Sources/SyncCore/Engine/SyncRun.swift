import SyncModels
import SyncPorts

/// One sync from its lease to its result: what waited for an upgrade, the push, the pulls, the sweeps.
struct SyncRun {
  let environment: RunEnvironment
  let request: SyncRequest
  let stop: StopSignal

  /// Syncs, and gives the lease back whatever happens.
  func perform() async throws(SyncError) -> SyncResult {
    if let offline = environment.offline { throw offline }
    let entities = try selectedEntities()
    environment.priorities.begin(request.priority)
    let elapsed = environment.clock.stopwatch()
    let lease = try await environment.store.acquireLease(for: environment.options.leaseDuration)
    environment.emit(.started(fence: lease.fence))
    let outcome = await outcome(of: entities, lease: lease)
    // The work is done or has failed already; a lease that cannot be given back runs out by itself.
    try? await environment.store.release(lease)
    switch outcome {
    case .success(let (progress, wasStopped)):
      return progress.finished(after: elapsed(), wasCancelled: wasStopped)
    case .failure(let error):
      throw error
    }
  }

  private func selectedEntities() throws(SyncError) -> [Entity] {
    let named = (request.types ?? []) + request.completely + request.priority
    for type in named where environment.graph[type] == nil {
      throw SyncError(
        .invalidConfiguration, during: "starting a sync", "The record type \(type) is not declared.")
    }
    if request.direction == .push, environment.sink == nil {
      throw SyncError(
        .invalidConfiguration, during: "starting a sync", "There is no sink that edits could be pushed to.")
    }
    guard let types = request.types else { return environment.graph.entities }
    return environment.graph.entities.filter { types.contains($0.type) }
  }

  private typealias Outcome = Result<(SyncProgress, wasStopped: Bool), SyncError>

  private func outcome(of entities: [Entity], lease: Lease) async -> Outcome {
    await withTaskGroup(of: PullRun.Event.self) { group in
      addWatchers(to: &group, lease: lease)
      defer { group.cancelAll() }
      do throws(SyncError) {
        var progress = SyncProgress(order: environment.graph.entities.map(\.type))
        try await UpgradeReplay(environment: environment, lease: lease).run(entities, &progress)
        try await AwaitedRecords.release(in: environment, lease: lease, &progress)
        if request.direction != .pull, let sink = environment.sink {
          var push = PushRun(
            sink: sink, environment: environment, lease: lease, stop: stop, progress: progress)
          try await push.run(entities)
          progress = push.progress
          if let error = push.failure {
            await remember(entities.map { ($0.type, error) }, lease: lease)
            return .failure(error)
          }
          if push.wasStopped || request.direction == .push {
            await remember(progress.result.failures, lease: lease)
            return .success((progress, push.wasStopped))
          }
        }
        let starts = try await PullStart.load(entities, request: request, environment: environment)
        var pulls = PullRun(
          entities, starts: starts, environment: environment, lease: lease, stop: stop, progress: progress)
        await pulls.run(in: &group)
        progress = pulls.progress
        if let error = pulls.failure {
          await remember(entities.map { ($0.type, error) }, lease: lease)
          return .failure(error)
        }
        await remember(progress.result.failures, lease: lease)
        var wasStopped = pulls.wasStopped
        if !wasStopped {
          var closing = ClosingPhase(
            environment: environment, request: request, lease: lease, stop: stop, progress: progress)
          wasStopped = try await !closing.run(entities)
          progress = closing.progress
        }
        if !wasStopped {
          wasStopped = try await !ArrivalCollapse(environment: environment, lease: lease, stop: stop)
            .run(entities)
        }
        return .success((progress, wasStopped))
      } catch {
        return .failure(error)
      }
    }
  }

  /// What goes on beside the pulls: the lease is kept alive, and the caller's token is watched.
  private func addWatchers(to group: inout TaskGroup<PullRun.Event>, lease: Lease) {
    let (environment, stop) = (environment, stop)
    if stop.token != nil {
      group.addTask {
        await stop.wait(clock: environment.clock)
        return .stopRequested
      }
    }
    group.addTask {
      var lease = lease
      let duration = environment.options.leaseDuration
      while true {
        do {
          try await environment.clock.pause(for: duration / 3)
        } catch {
          return .idle
        }
        do throws(SyncError) {
          lease = try await environment.store.renew(lease, for: duration)
        } catch {
          // A store that is busy now may be free at the next turn; a lease that somebody else has is gone for good.
          if error.code == .leaseLost { return .leaseLost(error) }
        }
      }
    }
  }

  // MARK: What is remembered of failures

  private func remember(_ failures: [(type: RecordType, error: SyncError)], lease: Lease) async {
    guard !failures.isEmpty else { return }
    let now = environment.clock.timestamp
    // The failure itself is in the caller's hands; that it could not be written down as well changes nothing.
    try? await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      for (type, error) in failures {
        var status = try TypeStatus.load(for: type, from: transaction)
        status.noteFailure(error, at: now)
        try status.save(for: type, in: transaction)
      }
    }
  }
}
