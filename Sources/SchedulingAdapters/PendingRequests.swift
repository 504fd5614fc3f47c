import SyncModels
import SyncPorts

/// Decides which pending request to begin, and when; it waits for none.
struct PendingRequests {
  /// A time by two clocks: the wall clock, which may be set, and a monotonic one.
  struct Moment: Equatable {
    var timestamp: Timestamp
    var elapsed: Duration
  }

  struct Pending: Equatable {
    var request: BackgroundRequest
    /// When the work begins, the random delay included, as known at submission.
    var begin: Moment

    /// The remaining wait; zero or less when the request is due.
    ///
    /// A time of day goes by the wall clock. A delay goes by the monotonic clock.
    func wait(from now: Moment) -> Duration {
      switch request.earliest {
      case .after: begin.elapsed - now.elapsed
      case .next: begin.timestamp.duration(since: now.timestamp)
      }
    }
  }

  private(set) var pending: [BackgroundRequest.Kind: Pending] = [:]

  mutating func submit(_ request: BackgroundRequest, begin: Moment) {
    pending[request.kind] = Pending(request: request, begin: begin)
  }

  /// The next step of the scheduler.
  enum Step: Equatable {
    case begin(BackgroundRequest.Kind)
    /// Waits at most this long, or for network or power if a request needs it.
    case wait(atMost: Duration?, forNetwork: Bool, forPower: Bool = false)
  }

  /// Removes and returns the request to begin, or returns what to wait for.
  ///
  /// Of several the one that was due first begins.
  mutating func step(at now: Moment, isOffline: Bool, isOnBattery: Bool = false) -> Step {
    let waits = pending.mapValues { $0.wait(from: now) }
    let due = pending.values.filter { waits[$0.request.kind, default: .zero] <= .zero }
    let powered = due.map(\.request).filter { !isOnBattery || !$0.needsExternalPower }
    let ready = powered.filter { !isOffline || !$0.needsNetwork }.map(\.kind)
    let first = ready.min {
      (waits[$0, default: .zero], $0.rawValue) < (waits[$1, default: .zero], $1.rawValue)
    }
    if let first {
      pending[first] = nil
      return .begin(first)
    }
    return .wait(
      atMost: waits.values.filter { $0 > .zero }.min(), forNetwork: !powered.isEmpty,
      forPower: powered.count < due.count)
  }
}
