public import SyncModels

/// How a sync that a ``SyncCoordinator`` started has ended.
public enum SyncOutcome: Sendable {
  /// It was completed; types whose own pass failed are listed in the result.
  case completed(SyncResult)
  /// It was stopped by wish, and what it had done is saved.
  case stopped(SyncResult)
  /// The remote, the network or the turn was not to be had. That is no failure: local data go on being used, and another attempt follows.
  case unavailable(SyncError)
  /// It failed for a reason that somebody should see to.
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

  /// What the pacing has to know.
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
  /// Whether it is nothing to trouble anybody with: it passes by itself.
  fileprivate var isQuiet: Bool {
    self == .remoteUnavailable || self == .offline || self == .syncAlreadyInProgress || self == .leaseLost
      || self == .storeBusy
  }
}
