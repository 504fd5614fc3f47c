import SyncModels

extension SyncError {
  /// Whether the failure concerns one type, and the others can still be pulled.
  var endsOneTypeAlone: Bool {
    code == .quotaExceeded || code == .permissionDenied || code == .inconsistentData
      || code == .invalidResponse || code == .invalidConfiguration
  }
}

extension TypeStatus {
  /// Records that a pass continued or was completed.
  mutating func noteAttempt(at now: Timestamp, isComplete: Bool) {
    lastAttempt = now
    guard isComplete else { return }
    lastSuccess = now
    lastError = nil
    consecutiveFailures = 0
    successes = successes.addingOne
  }

  /// Records that a pass failed.
  mutating func noteFailure(_ error: SyncError, at now: Timestamp) {
    lastAttempt = now
    lastError = Failure(
      code: error.code.description, message: error.description, retryAt: error.retryAfter.map { now + $0 })
    consecutiveFailures = consecutiveFailures.addingOne
    failures = failures.addingOne
  }
}

extension Int {
  /// The next number, or the same at the end of the range.
  ///
  /// The number was stored, and may have any value.
  fileprivate var addingOne: Int { self == .max ? self : self + 1 }
}
