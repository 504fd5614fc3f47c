public import SyncModels

/// When a failed request is made again: exponential backoff with full jitter, a cap, and a budget of attempts.
///
/// The pause before attempt *n* is drawn evenly from zero to `base · 2ⁿ⁻²`, at most ``cap``. (Full jitter: M. Brooker,
/// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.) A remote that names a time of its own is never asked sooner.
public struct RetryPolicy: Hashable, Sendable {
  /// How often one request is made in all, 1 or more.
  public var attempts: Int
  /// The longest pause before the second attempt; doubled for each later one.
  public var base: Duration
  /// The longest pause of all. A remote that asks for more ends the sync, and the error tells when to try again.
  public var cap: Duration

  /// Describes a policy.
  public init(attempts: Int = 5, base: Duration = .milliseconds(500), cap: Duration = .seconds(30)) {
    self.attempts = attempts
    self.base = base
    self.cap = cap
  }

  /// The pause before the next attempt, or `nil` if there is to be none.
  ///
  /// - Parameters:
  ///   - failures: How many attempts have failed, 1 or more.
  ///   - error: The last failure.
  ///   - random: 64 random bits.
  public func pause(afterFailures failures: Int, error: SyncError, random: UInt64) -> Duration? {
    #if MUTANTS
      if Mutant.requestedPauseIgnored.isActive, error.retryAfter != nil, failures < attempts { return .zero }
      if Mutant.retriesWithoutEnd.isActive, error.code.isRetryable, failures < 20 { return base }
    #endif
    guard error.code.isRetryable, failures < attempts else { return nil }
    if let asked = error.retryAfter, asked > cap { return nil }
    let fraction = Double(random >> 11) * 0x1p-53
    return max(ceiling(afterFailures: failures) * fraction, error.retryAfter ?? .zero)
  }

  /// The longest pause after so many failures, 1 or more, where nobody asked for another.
  func ceiling(afterFailures failures: Int) -> Duration {
    // Past 2^40 the cap has long been reached, whatever the base.
    min(cap, base * (1 << min(max(0, failures - 1), 40)))
  }
}
