package import CanonicalSync

/// How long to wait before looking again: briefly after a change, ever longer while nothing happens.
package struct PollPace: Hashable, Sendable {
  /// The pause after a change.
  package let shortest: Duration
  /// The pause that is never exceeded, unless the remote asks for a longer one.
  package let longest: Duration
  private var next: Duration

  /// A pace between two pauses; the longest is at least the shortest.
  package init(from shortest: Duration, to longest: Duration) {
    self.shortest = shortest
    self.longest = max(shortest, longest)
    next = shortest
  }

  /// The pause after a look that found a change, or none.
  package mutating func pause(afterChange hasChanged: Bool) -> Duration {
    if hasChanged { next = shortest }
    defer { next = min(longest, next * 2) }
    return next
  }

  /// The pause after a look that failed: as if nothing had changed, and never shorter than the remote asks for.
  package mutating func pause(after error: SyncError) -> Duration {
    max(pause(afterChange: false), error.retryAfter ?? .zero)
  }
}
