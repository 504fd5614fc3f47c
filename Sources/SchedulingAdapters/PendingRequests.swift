import SyncModels
import SyncPorts

/// The requests that wait for their time, decided upon and not waited for.
struct PendingRequests {
  struct Pending: Equatable {
    var request: BackgroundRequest
    /// When it is begun, the part that was left to chance included.
    var begin: Timestamp
  }

  private(set) var pending: [BackgroundRequest.Kind: Pending] = [:]

  mutating func submit(_ request: BackgroundRequest, begin: Timestamp) {
    pending[request.kind] = Pending(request: request, begin: begin)
  }

  /// What to do at a time.
  enum Step: Equatable {
    case begin(BackgroundRequest.Kind)
    /// Wait: at most so long, for the network where something is due but for that.
    case wait(atMost: Duration?, forNetwork: Bool)
  }

  /// Takes off the request that is to be begun, of several the one that was due first; otherwise says what to wait for.
  mutating func step(at now: Timestamp, isOffline: Bool) -> Step {
    let due = pending.values.filter { $0.begin <= now }
    let ready = due.filter { !isOffline || !$0.request.needsNetwork }
    let first = ready.min { ($0.begin, $0.request.kind.rawValue) < ($1.begin, $1.request.kind.rawValue) }
    if let first {
      pending[first.request.kind] = nil
      return .begin(first.request.kind)
    }
    let next = pending.values.map(\.begin).filter { $0 > now }.min()
    return .wait(atMost: next.map { $0.duration(since: now) }, forNetwork: !due.isEmpty)
  }
}
