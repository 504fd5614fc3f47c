import CanonicalSync
import Synchronization

/// The days that were asked for, as this server answers them, until the store changes.
///
/// A change of a team or of everything drops all days. A change of a game drops the days that show
/// it, and the day on which it is now.
final class ScheduleCache: Sendable {
  private struct State {
    var days: [String: [GameLine]] = [:]
    /// The number of drops; an answer that was read before one is not kept.
    var drops = 0
    var hits = 0
    var misses = 0
    /// The position of the store up to which changes are known; `nil` while nothing is.
    var position: StorePosition?
  }
  private let state = Mutex(State())

  /// The most days that are kept.
  private static let size = 1000

  /// The games of a day, from the cache or by reading the store.
  func games(
    on date: String, _ read: () async throws(SyncError) -> [GameLine]
  ) async throws(SyncError) -> [GameLine] {
    let (known, drops) = state.withLock { state in
      let known = state.position == nil ? nil : state.days[date]
      if known == nil { state.misses += 1 } else { state.hits += 1 }
      return (known, state.drops)
    }
    if let known { return known }
    let games = try await read()
    state.withLock { state in
      // Without news of changes, nothing is kept.
      guard state.drops == drops, state.position != nil else { return }
      if state.days.count >= Self.size { state.days = [:] }
      state.days[date] = games
    }
    return games
  }

  /// Drops what a commit has changed.
  ///
  /// - Parameter dates: The present dates of the changed games.
  func drop(_ changes: CommittedChanges, dates: Set<String>) {
    state.withLock { state in
      state.drops += 1
      state.position = changes.position
      guard case .records(let ids) = changes.scope, !ids.contains(where: { $0.type == Team.recordType })
      else {
        state.days = [:]
        return
      }
      let changed = Set(ids.map(\.key))
      state.days = state.days.filter { date, games in
        !dates.contains(date) && !games.contains { changed.contains($0.id) }
      }
    }
  }

  /// Keeps nothing until changes are heard again.
  func pause() {
    state.withLock { state in
      state.drops += 1
      (state.days, state.position) = ([:], nil)
    }
  }

  /// The numbers for a metrics system.
  var metrics: [Metric] {
    let state = state.withLock { $0 }
    let help = "Answers about a day, by whether the cache had them."
    return [
      Metric(
        "schedule_answers_total", .counter, help, labels: [Metric.Label("cache", "hit")],
        value: Double(state.hits)),
      Metric(
        "schedule_answers_total", .counter, help, labels: [Metric.Label("cache", "miss")],
        value: Double(state.misses)),
      Metric(
        "schedule_position", .gauge, "The last commit of the store that this server has heard of.",
        value: Double(state.position?.number ?? 0)),
    ]
  }
}
