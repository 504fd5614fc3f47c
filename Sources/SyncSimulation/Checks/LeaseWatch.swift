import SyncModels
import Synchronization

/// Knows the lease's holder, because it sees every process.
final class LeaseWatch: Sendable {
  private struct State {
    var latest: Int64 = 0
    var holder: (fence: Int64, expiresAt: Timestamp, incarnation: Incarnation)?
  }
  private let state = Mutex(State())
  private let now: @Sendable () -> Timestamp
  private let ledger: Ledger

  init(now: @escaping @Sendable () -> Timestamp, ledger: Ledger) {
    self.now = now
    self.ledger = ledger
  }

  /// The greatest fencing number so far.
  var latest: Int64 { state.withLock { $0.latest } }

  func acquired(_ lease: Lease, by incarnation: Incarnation) {
    incarnation.trace(as: .lease, "has the lease, number \(lease.fence)")
    let (latest, holder) = state.withLock { state in
      defer {
        state.latest = max(state.latest, lease.fence)
        state.holder = (lease.fence, lease.expiresAt, incarnation)
      }
      return (state.latest, state.holder)
    }
    if lease.fence <= latest {
      ledger.report(.oneCommitter, "\(incarnation) got lease \(lease.fence) after \(latest)")
    }
    guard let holder else { return }
    ledger.saw(.leaseTakenOver)
    // A store may detect a dead holder before its lease expires.
    if holder.expiresAt > now(), !holder.incarnation.isDead {
      ledger.report(
        .oneCommitter, "\(incarnation) got the lease that \(holder.incarnation) has until \(holder.expiresAt)"
      )
    }
  }

  func renewed(_ lease: Lease) {
    state.withLock { state in
      if state.holder?.fence == lease.fence { state.holder?.expiresAt = lease.expiresAt }
    }
  }

  func released(_ lease: Lease) {
    state.withLock { state in
      if state.holder?.fence == lease.fence { state.holder = nil }
    }
  }
}
