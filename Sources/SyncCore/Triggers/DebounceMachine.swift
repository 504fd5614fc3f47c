import SyncPorts

/// Decides when a network that was lost counts as regained: once it has stayed for a while.
///
/// Only what was seen to be lost can be regained, so the first "online" after the start is none, and neither is another interface while
/// the network is there. An unknown state tells nothing and changes nothing.
struct DebounceMachine: Hashable, Sendable {
  private enum State: Hashable {
    /// Nothing that matters was seen yet.
    case untold
    case connected
    case lost
    /// The network came back, and counts as regained then.
    case settling(until: Duration)
  }
  private let settleTime: Duration
  private var state = State.untold

  /// A machine that has seen nothing yet.
  init(settleTime: Duration = .milliseconds(2500)) {
    self.settleTime = settleTime
  }

  /// When the network counts as regained, unless it is lost again before.
  var due: Duration? {
    if case .settling(let due) = state { due } else { nil }
  }

  /// The network's state, as it is seen at some time.
  mutating func observed(_ connectivity: Connectivity, at now: Duration) {
    switch (connectivity, state) {
    case (.offline, _): state = .lost
    case (.online, .lost): state = .settling(until: now + settleTime)
    case (.online, .untold): state = .connected
    case (.online, .connected), (.online, .settling), (.unknown, _): break
    }
  }

  /// Forgets a loss, and a return that has not been counted: a sync that is planned serves for it.
  mutating func forgive() {
    switch state {
    case .lost: state = .untold
    case .settling: state = .connected
    case .untold, .connected: break
    }
  }

  /// Whether the network counts as regained by now; true once for each time.
  mutating func isRegained(at now: Duration) -> Bool {
    guard let due, now >= due else { return false }
    state = .connected
    return true
  }
}
