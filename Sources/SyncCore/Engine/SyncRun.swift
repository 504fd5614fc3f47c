import SyncModels
import SyncPorts

/// One sync from its lease to its result.
struct SyncRun {
  var environment: RunEnvironment
  let request: SyncRequest
  let scope: SyncScope
  let stop: StopSignal

  /// The phases of the sync, in their order.
  private var phases: [any SyncPhase] {
    let pulls = request.direction != .push
    let sink = request.direction == .pull ? nil : environment.sink
    let phases: [(any SyncPhase)?] = [
      PauseCheck(),  // ends the sync during a pause that the remote has asked for
      AccountCheck(),  // refuses another account's data, before anything is sent or changed

      // First, what the store holds is brought in line with this version of the app and its remote.
      UpgradePhase(),  // converts records of older versions of the app's model
      DeclarationRelease(),  // merges copies again that a changed declaration no longer withholds
      UpgradeReplay(),  // merges records of a newer schema that the app now understands
      SourceExchange(),  // voids the tokens of another remote
      AwaitedRelease(),  // shows copies that waited for records which the app itself has made

      // Then edits go out, and changes come in.
      environment.sink.map { _ in OverdueRefusalReview() },  // that of a sync which was interrupted
      sink.map { PushPhase(sink: $0) },
      pulls ? PullPhase() : nil,
      pulls ? sink.map { SuspectPhase(sink: $0) } : nil,  // pushes again, without failing edits

      // At last, what can only be done with complete pulls.
      pulls ? DeclarationWithholding() : nil,  // withholds what dangles by a changed declaration
      pulls ? SweepPhase() : nil,  // removes what listings lacked, and carries out held deletions
      pulls ? sink.map { TargetDeletion(sink: $0) } : nil,  // ends deletions that references hold back
      pulls ? LoserReview() : nil,  // shows losers again whose winners are gone
      pulls ? ArrivalCollapse() : nil,  // collapses duplicates that have arrived
      pulls ? sink.map { LoserDeletion(sink: $0) } : nil,  // deletes losers at the remote
      pulls ? environment.sink.map { _ in RefusalReview() } : nil,  // gives refused edits another chance

      AccountCheck(isAtEnd: true),  // keeps credentials that have replaced themselves meanwhile
    ]
    return phases.compactMap(\.self)
  }

  /// Syncs, and always releases the lease afterwards.
  ///
  /// - Parameter first: The types that go first, the most urgent one first.
  func perform(first: [RecordType]) async throws(SyncError) -> SyncResult {
    if let offline = environment.offline { throw offline }
    environment.priorities.begin(first)
    // A stop cancels the task of all that follows, so every wait ends by itself.
    return try await stop.stopping(clock: environment.clock) { () throws(SyncError) in
      try await performUntilStopped()
    }
  }

  private func performUntilStopped() async throws(SyncError) -> SyncResult {
    let elapsed = environment.clock.stopwatch()
    guard let lease = try await acquireLease() else {
      return SyncProgress(order: []).finished(after: elapsed(), wasCancelled: true)
    }
    let entry = HistoryEntry(
      PastSync(
        number: 1, fence: lease.fence, triggers: request.triggers.map(\.description),
        began: environment.clock.timestamp),
      meter: environment.meter, clock: environment.clock, elapsed: elapsed)
    let (store, duration) = (environment.store, environment.options.leaseDuration)
    return try await LeaseKeeper.hold(
      lease, of: store, by: environment.schema, clock: environment.clock, for: duration
    ) {
      (lease) throws(SyncError) in
      environment.emit(.started(fence: lease.fence))
      announce { $0.lastBegin = $1 }
      var session = SyncSession(
        measured, request, types: scope.types, lease: lease, entry: entry, stop: stop)
      let end = try await run(in: &session)
      if end == .finished { announce { $0.lastSuccess = $1 } }
      return session.progress.finished(after: elapsed(), wasCancelled: end == .stopped)
    }
  }

  /// The environment, with retries counted.
  private var measured: RunEnvironment {
    var measured = environment
    let (emit, meter) = (environment.emit, environment.meter)
    measured.emit = { event in
      if case .retrying = event { meter.update { $0.retries += 1 } }
      emit(event)
    }
    return measured
  }

  /// Runs the phases, and stores how the sync ended.
  private func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    do throws(SyncError) {
      var (end, pending) = (PhaseEnd.finished, PendingPhases(phases))
      while end == .finished, let phase = await pending.next(in: session) {
        end = try await phase.run(in: &session)
      }
      await close(end == .finished ? .finished : .stopped, session.progress.result.failures, in: session)
      return end
    } catch {
      // The store stays as it was.
      if error.code == .otherAccount { throw error }
      let result = session.progress.finished(after: session.entry.elapsed(), wasCancelled: false)
      environment.meter.update { $0.result = result }
      let failures = result.failures + session.failing.map { ($0, error) }
      await close(.failed(error), failures, in: session)
      throw error
    }
  }

  /// Stores the end of the sync and the failures of types.
  ///
  /// It writes nothing if the last transaction has noted all of it.
  private func close(
    _ end: HistoryEntry.End, _ failures: [(type: RecordType, error: SyncError)], in session: SyncSession
  ) async {
    let (progress, now, source) = (
      session.progress, environment.clock.timestamp, environment.source.identity
    )
    let last: [SyncError] = if case .failed(let error) = end { [error] } else { [] }
    let errors = failures.map(\.error) + last
    if failures.isEmpty, session.entry.hasPersisted(end, progress) { return }
    // The caller receives the result or the failure itself, so an error while saving it changes
    // nothing.
    try? await session.entry.write(under: session.lease, asDecider: false, ending: { (end, progress) }) {
      (transaction) throws(SyncError) in
      for (type, error) in failures where error.code != .offline {
        var status = try PassOutcomes.load(for: type, from: transaction)
        status.countFailure(error, at: now)
        try status.save(for: type, in: transaction)
      }
      try RemotePause.keep(errors, of: source, at: now, in: transaction)
    }
  }

  /// Reports this attempt to a coordinator, if it covers all types.
  private func announce(_ change: (inout Attempts, Timestamp) -> Void) {
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
        guard (try? await clock.pause(for: min(left, Self.leaseInterval), as: .busy)) != nil, !stop.isRaised
        else {
          return nil
        }
      }
    }
  }
}

/// One part of a sync.
///
/// A phase runs to its end, or to a stop between two of its transactions.
/// What a phase leaves undone is due again at the next sync, so it may end anywhere.
protocol SyncPhase: Sendable {
  /// Runs the phase under the session's lease.
  ///
  /// - Throws: What ends the whole sync. The phase has put the types that failed into
  ///   ``SyncSession/failing``, and committed transactions stay.
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd

  /// Finds out whether anything is due; `nil` for a phase that always runs.
  ///
  /// Successive phases are surveyed in one snapshot. Mostly nothing is due for any of them, and a
  /// snapshot for each would take longer than a small page.
  var survey: Survey? { get }
}

extension SyncPhase {
  /// Finds out whether anything is due in the store.
  typealias Survey = @Sendable (any StoreSnapshot, SyncSession) throws(SyncError) -> Bool

  var survey: Survey? { nil }
}

/// The phases that a sync has still to run.
struct PendingPhases {
  private var rest: ArraySlice<any SyncPhase>

  init(_ phases: [any SyncPhase]) {
    rest = phases[...]
  }

  /// Removes and returns the next phase for which something is due; `nil` after the last.
  mutating func next(in session: SyncSession) async -> (any SyncPhase)? {
    let surveys = rest.prefix { $0.survey != nil }.compactMap(\.survey)
    if !surveys.isEmpty {
      // A phase reads again what is due, so it throws a failure of this read itself.
      let idle = try? await session.read { (snapshot) throws(SyncError) in
        for (index, isDue) in surveys.enumerated() where try isDue(snapshot, session) { return index }
        return surveys.count
      }
      rest = rest.dropFirst(idle ?? 0)
      if idle == surveys.count { return await next(in: session) }
    }
    return rest.popFirst()
  }
}

/// How a phase ended.
enum PhaseEnd: Sendable {
  /// Everything that was due is done.
  case finished
  /// A stop was requested.
  case stopped
}
