import CanonicalSync
import InMemoryAdapters
import ScheduleService

/// Syncs a small schedule once and prints one day of it.
@main struct ServerApp {
  static func main() async throws {
    let remote = InMemoryRemote()
    remote.upsert("teams", "BOS", #"{"id":"BOS","name":"Boston"}"#)
    remote.upsert("teams", "NYA", #"{"id":"NYA","name":"New York"}"#)
    remote.upsert(
      "games", "1", #"{"id":"1","date":"2026-04-01","home_team_id":"BOS","away_team_id":"NYA"}"#)
    let service = try await ScheduleService(
      store: InMemoryStore(), source: remote, policy: SyncPolicy(interval: .seconds(300)),
      connectivity: ManualConnectivity(.online))
    if let result = try await service.syncIfDue() { print(result) }
    for (game, home, away) in try await service.games(on: "2026-04-01") {
      print("\(game.date): \(away) at \(home)")
    }
  }
}
