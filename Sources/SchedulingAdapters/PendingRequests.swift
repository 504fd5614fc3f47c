import SyncModels
import SyncPorts

/// The requests that wait for their time, decided upon and not waited for.
struct PendingRequests {
  /// A time by both clocks: the one on the wall, which somebody may set, and the one that only goes on.
  struct Moment: Equatable {
    var timestamp: Timestamp
    var elapsed: Duration
  }

  struct Pending: Equatable {
    var request: BackgroundRequest
    /// When it is begun, the part that was left to chance included, as it looked when it was submitted.
    var begin: Moment

    /// How long it has to wait yet; zero or less when it is due.
    ///
    /// A time of day is what the clock on the wall shows, and a while is a while whatever that shows.
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

  /// What to do at a time.
  enum Step: Equatable {
    case begin(BackgroundRequest.Kind)
    /// Wait: at most so long, for the network where something is due but for that, and for power likewise.
    case wait(atMost: Duration?, forNetwork: Bool, forPower: Bool = false)
  }

  /// Takes off the request that is to be begun, of several the one that was due first; otherwise says what to wait for.
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
