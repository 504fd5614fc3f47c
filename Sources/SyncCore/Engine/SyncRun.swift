import SyncModels
import SyncPorts

/// One sync from its lease to its result.
///
/// It includes the replay after an upgrade, the push, the pulls, and the sweeps.
struct SyncRun {
  let environment: RunEnvironment
  let request: SyncRequest
  let scope: SyncScope
  let stop: StopSignal

  /// Syncs, and always releases the lease afterwards.
  ///
  /// - Parameter first: The types that go first, the most urgent one first.
  func perform(first: [RecordType]) async throws(SyncError) -> SyncResult {
    if let offline = environment.offline { throw offline }
    let entities = environment.schema.entities.filter { scope.types.contains($0.type) }
    environment.priorities.begin(first)
    let elapsed = environment.clock.stopwatch()
    guard let lease = try await acquireLease() else {
      return SyncProgress(order: []).finished(after: elapsed(), wasCancelled: true)
    }
    environment.emit(.started(fence: lease.fence))
    note { $0.lastBegin = $1 }
    let outcome = await outcome(of: entities, lease: lease)
    // The work has succeeded or failed already. A lease that cannot be released expires by itself.
    try? await environment.store.release(lease)
    switch outcome {
    case .success(let (progress, wasStopped)):
      if !wasStopped { note { $0.lastSuccess = $1 } }
      return progress.finished(after: elapsed(), wasCancelled: wasStopped)
    case .failure(let error):
      throw error
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
        let pause = min(left, Self.leaseInterval)
        // A pause is cut short only by a stop, which the race detects.
        guard await stop.race(clock: clock, { try? await clock.pause(for: pause) }) != nil else { return nil }
      }
    }
  }

  private typealias Outcome = Result<(SyncProgress, wasStopped: Bool), SyncError>

  private func outcome(of entities: [Entity], lease: Lease) async -> Outcome {
    await withTaskGroup(of: PullRun.Event.self) { group in
      addWatchers(to: &group, lease: lease)
      defer { group.cancelAll() }
      do throws(SyncError) {
        var progress = SyncProgress(order: environment.schema.entities.map(\.type))
        var declarations = DeclarationPhase(
          environment: environment, lease: lease, stop: stop, progress: progress)
        guard try await declarations.release() else { return .success((declarations.progress, true)) }
        progress = declarations.progress
        try await UpgradeReplay(environment: environment, lease: lease).run(entities, &progress)
        try await SourceExchange.note(
          entities, isPushed: request.direction != .pull && environment.sink != nil, in: environment,
          lease: lease)
        try await CircleReview(environment: environment, lease: lease).run(entities, &progress)
        try await AwaitedRecords.release(in: environment, lease: lease, &progress)
        var environment = environment
        var push: PushRun?
        if request.direction != .pull, let sink = environment.sink {
          var run = PushRun(
            sink: sink, environment: environment, lease: lease, stop: stop, progress: progress)
          try await run.run(entities)
          progress = run.progress
          if let error = run.failure, request.direction == .push || !run.mayHaveFailedAtEdits {
            // In a push alone, types without edits have no failure. In a sync, no type's pass was
            // reached.
            let types = request.direction == .push ? run.types : entities.map(\.type)
            await remember(types.map { ($0, error) }, lease: lease)
            return .failure(error)
          }
          if run.wasStopped || request.direction == .push {
            await remember(progress.result.failures, lease: lease)
            return .success((progress, run.wasStopped))
          }
          // The remote's failures have used up their budget. The pull now shows whether the remote
          // is there at all.
          if run.failure != nil { environment.options.retry.attempts = 1 }
          push = run
        }
        let starts = try await PullStart.load(entities, request: request, environment: environment)
        var pulls = PullRun(
          entities, starts: starts, environment: environment, lease: lease, stop: stop, progress: progress,
          allowsMassDeletion: request.allowsMassDeletion)
        await pulls.run(in: &group)
        progress = pulls.progress
        if pulls.failure == nil, !pulls.wasStopped, var run = push, run.mayHaveFailedAtEdits {
          try await run.isolateSuspects(progress)
          progress = run.progress
          if run.mayPushOthers, let sink = environment.sink {
            // The remote is there, and the edits at which it may fail no longer block the others.
            var rest = PushRun(
              sink: sink, environment: environment, lease: lease, stop: stop, progress: progress)
            try await rest.run(entities, except: run.deniedTypes)
            progress = rest.progress
            if rest.mayHaveFailedAtEdits {
              try await rest.isolateSuspects(progress)
              progress = rest.progress
            } else if let error = rest.failure {
              await remember(rest.types.map { ($0, error) }, lease: lease)
              return .failure(error)
            }
          }
        }
        if let error = pulls.failure {
          // A type whose pass was completed has not failed, whatever ended the sync.
          let unended = entities.map(\.type).filter { !pulls.ended.contains($0) }
          await remember(progress.result.failures + unended.map { ($0, error) }, lease: lease)
          return .failure(error)
        }
        var wasStopped = pulls.wasStopped
        if !wasStopped {
          declarations.progress = progress
          wasStopped = try await !declarations.withhold()
          progress = declarations.progress
        }
        if !wasStopped {
          var closing = ClosingPhase(
            environment: environment, request: request, lease: lease, stop: stop, progress: progress)
          do throws(SyncError) {
            wasStopped = try await !closing.run(entities)
          } catch {
            let failed = closing.failedType.map { [($0, error)] } ?? []
            await remember(closing.progress.result.failures + failed, lease: lease)
            return .failure(error)
          }
          progress = closing.progress
        }
        await remember(progress.result.failures, lease: lease)
        if !wasStopped {
          wasStopped = try await !LoserReview(environment: environment, lease: lease, stop: stop)
            .run(entities, &progress)
        }
        if !wasStopped {
          wasStopped = try await !ArrivalCollapse(environment: environment, lease: lease, stop: stop)
            .run(entities)
        }
        if !wasStopped, let sink = environment.sink, request.direction != .pull {
          let losing = try await typesWithLosers(among: entities)
          if !losing.isEmpty {
            // The pull has shown which winners are still there.
            var push = PushRun(
              sink: sink, environment: environment, lease: lease, stop: stop, progress: progress)
            try await push.run(losing, stages: [.deletions])
            progress = push.progress
            if let error = push.failure {
              await remember(losing.map { ($0.type, error) }, lease: lease)
              return .failure(error)
            }
            wasStopped = push.wasStopped
          }
        }
        return .success((progress, wasStopped))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Returns the types with losers of a rebuild that the remote has not yet deleted.
  private func typesWithLosers(among entities: [Entity]) async throws(SyncError) -> [Entity] {
    try await environment.store.read { (snapshot) throws(SyncError) in
      var losing: [Entity] = []
      for entity in entities where entity.naturalKey != nil {
        if try PendingLosers.load(for: entity.type, from: snapshot) != nil { losing.append(entity) }
      }
      return losing
    }
  }

  /// Starts the tasks beside the pulls: renewal of the lease, and the token's watch.
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
          // A busy store may be free next time. A lease that another holder took over is lost for
          // good.
          if error.code == .leaseLost { return .leaseLost(error) }
        }
      }
    }
  }

  // MARK: Stored failures

  private func remember(_ failures: [(type: RecordType, error: SyncError)], lease: Lease) async {
    guard !failures.isEmpty else { return }
    let now = environment.clock.timestamp
    // The caller receives the failure itself, so an error while saving it changes nothing.
    try? await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      for (type, error) in failures {
        var status = try TypeStatus.load(for: type, from: transaction)
        status.noteFailure(error, at: now)
        try status.save(for: type, in: transaction)
      }
    }
  }
}
