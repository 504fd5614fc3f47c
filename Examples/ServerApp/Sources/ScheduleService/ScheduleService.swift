import CanonicalSync

/// This server's copy of the schedule, kept up to date by the app's own policy.
package struct ScheduleService: Sendable {
  private let engine: SyncEngine
  private let policy: SyncPolicy
  private let connectivity: any ConnectivityMonitor
  // In a file that imports CanonicalSync, this is a standard clock that also creates timestamps.
  private let clock: any Clock<Duration>

  package init(
    store: any LocalStore, source: any RemoteRecordSource, policy: SyncPolicy,
    connectivity: any ConnectivityMonitor, clock: any Clock<Duration> = ContinuousClock()
  ) async throws(SyncError) {
    self.policy = policy
    self.connectivity = connectivity
    self.clock = clock
    engine = try await SyncEngine(
      schema: scheduleSchema(), store: store, source: source, clock: clock, connectivity: connectivity)
  }

  /// Syncs if the policy says so; otherwise does nothing and returns `nil`.
  package func syncIfDue() async throws(SyncError) -> SyncResult? {
    try await decide() == .sync ? try await engine.sync() : nil
  }

  /// Syncs whenever the policy says so, until the task is cancelled.
  package func run(report: @Sendable (Result<SyncResult, SyncError>) -> Void) async {
    while !Task.isCancelled {
      do {
        switch try await decide() {
        case .sync: report(.success(try await engine.sync()))
        case .wait(let pause): try await clock.sleep(for: pause)
        case .stayOffline: try await clock.sleep(for: policy.interval)
        }
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

  /// The games of one day, each with the names of its teams.
  package func games(on date: String) async throws(SyncError) -> [(game: Game, home: String, away: String)] {
    let games = try await engine.records.filter(
      Game.self, where: .equal("date", .string(date)), including: ["home_team_id", "away_team_id"])
    return try games.complete().map { (game) throws(SyncError) in
      let home: Team? = try game.reference("home_team_id")
      let away: Team? = try game.reference("away_team_id")
      return (game.record.value, home?.name ?? "", away?.name ?? "")
    }
  }

  private func decide() async throws(SyncError) -> SyncPolicy.Decision {
    let attempts = try await engine.status().compactMap(\.status.lastAttempt)
    return policy.decide(
      lastAttempt: attempts.max(), at: clock.timestamp, connectivity: connectivity.connectivity)
  }
}
