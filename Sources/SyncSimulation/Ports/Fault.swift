import SyncModels

/// The fault of one port call.
enum Fault: Sendable {
  case failBefore(SyncError)
  case failAfter(SyncError)
  case stall(Duration)
  case stop
  case killBefore
  case killAfter
}

/// The port calls of a process.
enum PortCall: String, Sendable, CaseIterable {
  case open, register, read, write, acquire, renew, release, account, page, lookup, limits, push

  var isOfStore: Bool {
    switch self {
    case .open, .register, .read, .write, .acquire, .renew, .release: true
    case .account, .page, .lookup, .limits, .push: false
    }
  }
}

/// The kinds of faults that a sweep tries at each call.
public enum SweptFault: String, Hashable, Sendable, CaseIterable, Codable {
  /// The call fails without an effect.
  case failBefore
  /// The call has its effect, and reports a failure.
  case failAfter
  /// The call takes longer than a lease lasts.
  case stall
  /// The process dies before the call has an effect.
  case killBefore
  /// The process dies after the call had its effect.
  case killAfter

  func fault(of call: PortCall) -> Fault {
    let error =
      call.isOfStore
      ? SyncError(.storeFailure, during: "a \(call.rawValue)", "The store was told to fail.")
      : SyncError(.remoteUnavailable, during: "a \(call.rawValue)", "The remote was told to fail.")
    return switch self {
    case .failBefore: .failBefore(error)
    case .failAfter: .failAfter(error)
    case .stall: .stall(.seconds(40))
    case .killBefore: .killBefore
    case .killAfter: .killAfter
    }
  }
}
