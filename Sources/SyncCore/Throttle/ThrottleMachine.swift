import SyncModels

/// Decides whether a sighting is recorded: at most one of a key in an interval.
///
/// A clock may be set back and put right again. Both are followed: by the clock as it was, the last recording keeps the
/// interval after it closed; by the clock that is behind, the interval begins with the first sighting that it stamps. So nothing is
/// recorded twice within an interval, and nothing waits longer than two, however far ahead a clock was once. That a clock
/// jumps ahead cannot be told from time that passes, and counts as that.
struct ThrottleMachine: Hashable, Codable {
  /// When a sighting was last recorded, by the clock that was furthest ahead.
  ///
  /// It is moved on with each recording by a clock behind it.
  var recordedAt: Timestamp?
  /// Since when nothing is recorded by a clock that is behind ``recordedAt``; `nil` where none was.
  var setBackAt: Timestamp?

  /// What becomes of a sighting.
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
      // So much time has passed by the clock that is ahead, too.
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

  /// When a sighting was last recorded or waited, by the clock as it is now.
  func lastSeen(at now: Timestamp) -> Timestamp? {
    recordedAt.map { $0 <= now ? $0 : min(setBackAt ?? $0, now) }
  }
}
