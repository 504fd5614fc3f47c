import SyncModels

/// Decides whether to record a sighting: at most one of a key in an interval.
///
/// A clock may be set back and corrected again. The machine allows for both. By the clock that is
/// ahead, the last recording starts the interval. By the clock that is behind, the first sighting
/// that it stamps starts the interval. So no sighting is recorded twice within an interval, and
/// none waits longer than two intervals, however far ahead a clock was once. A jump ahead cannot be
/// distinguished from time that passes, and counts as time that passes.
struct ThrottleMachine: Hashable, Codable {
  /// When a sighting was last recorded, by the clock that was furthest ahead.
  ///
  /// Each recording by a clock behind it moves it forward.
  var recordedAt: Timestamp?
  /// The start of the interval by a clock that is behind ``recordedAt``; `nil` without one.
  var setBackAt: Timestamp?

  /// The decision on a sighting.
  enum Decision: Hashable {
    case record
    case cache(until: Timestamp)
  }

  /// Decides on a sighting at an instant.
  mutating func see(at now: Timestamp, interval: Duration) -> Decision {
    guard let recordedAt else { return record(at: now) }
    guard now < recordedAt else {
      setBackAt = nil
      return now.duration(since: recordedAt) < interval
        ? .cache(until: recordedAt + interval) : record(at: now)
    }
    let since = setBackAt.map { min($0, now) } ?? now
    let elapsed = now.duration(since: since)
    setBackAt = elapsed < interval ? since : now
    guard elapsed < interval else {
      // The same time has passed by the clock that is ahead.
      self.recordedAt = recordedAt + elapsed
      return .record
    }
    let end = since + interval
    return .cache(until: end < recordedAt ? end : recordedAt + interval)
  }

  private mutating func record(at now: Timestamp) -> Decision {
    recordedAt = now
    return .record
  }

  /// When a sighting was last recorded or cached, by the current clock.
  func lastSeen(at now: Timestamp) -> Timestamp? {
    recordedAt.map { $0 <= now ? $0 : min(setBackAt ?? $0, now) }
  }
}
