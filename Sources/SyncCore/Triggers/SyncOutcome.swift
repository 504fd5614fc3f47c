public import SyncModels

/// The outcome of a sync that a ``SyncCoordinator`` started.
public enum SyncOutcome: Sendable {
  /// The sync was completed. The result lists types whose own pass failed.
  case completed(SyncResult)
  /// The sync was stopped on request. All completed work is saved.
  case stopped(SyncResult)
  /// The remote, the network or the lease was unavailable.
  ///
  /// This is not a failure: local data stay in use, and another attempt follows.
  case unavailable(SyncError)
  /// The sync failed for a reason that needs attention.
  case failed(SyncError)
}

extension SyncOutcome {
  init(_ result: Result<SyncResult, SyncError>) {
    switch result {
    case .success(let result):
      self = result.wasCancelled ? .stopped(result) : .completed(result)
    case .failure(let error) where error.code == .cancelled:
      self = .stopped(SyncResult(wasCancelled: true))
    case .failure(let error) where error.code.isQuiet:
      self = .unavailable(error)
    case .failure(let error):
      self = .failed(error)
    }
  }

  /// Returns the outcome as the pacing counts it.
  ///
  /// - Parameter isExpired: Whether the time in the background was up.
  func ending(isExpired: Bool) -> TriggerMachine.Ending {
    switch self {
    case .completed(let result): .synced(retryAfter: result.failures.compactMap(\.error.retryAfter).max())
    case .stopped: isExpired ? .expired : .stopped
    case .unavailable(let error) where error.code == .offline: .offline
    case .unavailable(let error), .failed(let error): .failed(retryAfter: error.retryAfter)
    }
  }
}

extension SyncError.Code {
  /// Whether the condition passes by itself and needs no attention.
  fileprivate var isQuiet: Bool {
    self == .remoteUnavailable || self == .offline || self == .syncAlreadyInProgress || self == .leaseLost
      || self == .storeBusy
  }
}
