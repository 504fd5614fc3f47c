package import CanonicalSync

/// The pause between polls: short after a change, and growing while nothing changes.
package struct PollPace: Hashable, Sendable {
  /// The pause after a change.
  package let shortest: Duration
  /// The longest pause, unless the remote asks for a longer one.
  package let longest: Duration
  private var next: Duration

  /// Creates a pace between two pauses. The longest is at least the shortest.
  package init(from shortest: Duration, to longest: Duration) {
    self.shortest = shortest
    self.longest = max(shortest, longest)
    next = shortest
  }

  /// The pause after a poll that found a change, or none.
  package mutating func pause(afterChange hasChanged: Bool) -> Duration {
    if hasChanged { next = shortest }
    defer { next = min(longest, next * 2) }
    return next
  }

  /// The pause after a failed poll, the same as without a change.
  ///
  /// It is never shorter than the remote asks for.
  package mutating func pause(after error: SyncError) -> Duration {
    max(pause(afterChange: false), error.retryAfter ?? .zero)
  }
}
