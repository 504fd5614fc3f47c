import CanonicalSync

/// A game as answers show it.
package struct GameLine: Hashable, Sendable {
  package var id: String
  package var date: String
  package var home: String
  package var away: String
}

/// One server's part of the schedule service.
///
/// Any number of servers share a store. All answer from it. Of those that find a sync due, the one
/// that gets the lease syncs. The others hear what it commits.
package struct ScheduleService: Sendable {
  private let engine: SyncEngine
  private let policy: SyncPolicy
  private let connectivity: any ConnectivityMonitor
  // In a file that imports CanonicalSync, this is a standard clock that also creates timestamps.
  private let clock: any Clock<Duration>
  private let cache = ScheduleCache()
  private let metrics: MetricsObserver

  package init(
    store: any LocalStore, source: any RemoteRecordSource, policy: SyncPolicy,
    connectivity: any ConnectivityMonitor, clock: any Clock<Duration> = ContinuousClock()
  ) async throws(SyncError) {
    self.policy = policy
    self.connectivity = connectivity
    self.clock = clock
    metrics = MetricsObserver(clock: clock)
    engine = try await SyncEngine(
      schema: scheduleSchema(), store: store, source: source, clock: clock, connectivity: connectivity,
      observers: [metrics])
  }

  /// The edits of the store; see ``records(in:)``.
  var edits: LocalEdits { engine.edits }

  // MARK: Syncing

  /// Syncs if the policy says so; otherwise does nothing and returns `nil`.
  package func syncIfDue() async throws(SyncError) -> SyncResult? {
    try await decide() == .sync ? try await engine.sync() : nil
  }

  /// Syncs whenever the policy says so, until the task is cancelled.
  ///
  /// A sync that is cancelled stops at its next page, and gives the lease back.
  package func run(report: @Sendable (Result<SyncResult, SyncError>) -> Void) async {
    while !Task.isCancelled {
      do {
        switch try await decide() {
        case .sync: report(.success(try await engine.sync()))
        case .wait(let pause): try await clock.sleep(for: pause)
        case .stayOffline: try await clock.sleep(for: policy.interval)
        }
      } catch let error as SyncError where error.code == .syncAlreadyInProgress {
        // Another server leads. If it dies, its lease is free at once.
        guard (try? await clock.sleep(for: policy.followingInterval)) != nil else { return }
      } catch let error as SyncError {
        report(.failure(error))
        // A failed attempt counts: the policy delays the next one. Only an interrupted sleep ends
        // the loop.
        guard (try? await clock.sleep(for: policy.interval)) != nil else { return }
      } catch {
        return
      }
    }
  }

  /// The last attempt is in the store, so one server's sync counts for all.
  private func decide() async throws(SyncError) -> SyncPolicy.Decision {
    let attempts = try await engine.status().compactMap(\.passes.lastAttempt)
    return policy.decide(
      lastAttempt: attempts.max(), at: clock.timestamp, connectivity: connectivity.connectivity)
  }

  // MARK: Answering

  /// The games of one day, each with the names of its teams.
  package func games(on date: String) async throws(SyncError) -> [GameLine] {
    try await cache.games(on: date) { () throws(SyncError) in
      let games = try await engine.records.filter(
        Game.self, where: .equal("date", .string(date)), including: ["home_team_id", "away_team_id"])
      return try games.complete().map { (game) throws(SyncError) in
        let home: Team? = try game.reference("home_team_id")
        let away: Team? = try game.reference("away_team_id")
        return GameLine(
          id: game.record.value.id, date: game.record.value.date, home: home?.name ?? "",
          away: away?.name ?? "")
      }
    }
  }

  /// Keeps the cache in step with all servers' commits, until the changes end.
  ///
  /// Without it, every answer comes from the store.
  package func follow(_ changes: some AsyncSequence<CommittedChanges, Never>) async {
    for await change in changes { cache.drop(change, dates: await dates(of: change)) }
    cache.pause()
  }

  /// The present dates of the games that a commit changed.
  private func dates(of change: CommittedChanges) async -> Set<String> {
    guard case .records(let ids) = change.scope else { return [] }
    var dates: Set<String> = []
    for id in ids where id.type == Game.recordType {
      do throws(SyncError) {
        if let game = try await engine.records.find(Game.self, key: id.key) { dates.insert(game.value.date) }
      } catch {
        // A game that cannot be read could be on any day.
        cache.pause()
      }
    }
    return dates
  }

  // MARK: Observing

  /// Whether the store answers, for a load balancer.
  package func checkHealth() async throws(SyncError) { _ = try await engine.status() }

  /// The numbers of this server and of the store, in Prometheus' text format.
  package func metricsText() async throws(SyncError) -> String {
    let reports = try await engine.status()
    return (metrics.metrics + cache.metrics + reports.flatMap(\.metrics)).prometheusText
  }
}
