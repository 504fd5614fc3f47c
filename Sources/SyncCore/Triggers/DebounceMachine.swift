import SyncPorts

/// Decides when a lost network counts as regained: after it has stayed for a while.
///
/// Only a network that was seen to be lost can be regained. The first "online" after the start does
/// not count, and neither does a change of interface while the network is there. An unknown state
/// changes nothing.
struct DebounceMachine: Hashable, Sendable {
  private enum State: Hashable {
    /// No known state was seen yet.
    case unknown
    case connected
    case lost
    /// The network came back, and counts as regained at this time.
    case settling(until: Duration)
  }
  private let settleTime: Duration
  private var state = State.unknown

  /// Creates a machine that has seen nothing yet.
  init(settleTime: Duration = .milliseconds(2500)) {
    self.settleTime = settleTime
  }

  /// When the network counts as regained, unless it is lost again before.
  var due: Duration? {
    if case .settling(let due) = state { due } else { nil }
  }

  /// Records the network's state at a time.
  mutating func observed(_ connectivity: Connectivity, at now: Duration) {
    switch (connectivity, state) {
    case (.offline, _): state = .lost
    case (.online, .lost): state = .settling(until: now + settleTime)
    case (.online, .unknown): state = .connected
    case (.online, .connected), (.online, .settling), (.unknown, _): break
    }
  }

  /// Forgets a loss, or a return not counted yet, because a planned sync serves it.
  mutating func forgetLoss() {
    switch state {
    case .lost: state = .unknown
    case .settling: state = .connected
    case .unknown, .connected: break
    }
  }

  /// Returns whether the network counts as regained by now; true once for each return.
  mutating func isRegained(at now: Duration) -> Bool {
    guard let due, now >= due else { return false }
    state = .connected
    return true
  }
}
