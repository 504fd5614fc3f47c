public import SyncModels
import SyncPorts

/// The pauses and attempts after failed requests.
///
/// A request is repeated with exponential backoff, full jitter, a cap, and a budget of attempts.
/// The pause before attempt *n* is random, uniform from zero to `base · 2ⁿ⁻²`, at most ``cap``.
/// (Full jitter: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.) If the
/// remote names a time, no request is made sooner.
public struct RetryPolicy: Hashable, Sendable {
  /// The most attempts at one request, 1 or more.
  public var attempts: Int
  /// The longest pause before the second attempt, doubled for each later one.
  public var base: Duration
  /// The longest pause of all.
  ///
  /// A remote that asks for more ends the sync, and the error gives the time of the next attempt.
  public var cap: Duration

  /// Creates a policy.
  public init(attempts: Int = 5, base: Duration = .milliseconds(500), cap: Duration = .seconds(30)) {
    self.attempts = attempts
    self.base = base
    self.cap = cap
  }

  /// Returns the pause before the next attempt; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - failures: The number of failed attempts, 1 or more.
  ///   - error: The last failure.
  ///   - generator: Gives the jitter.
  public func pause(
    afterFailures failures: Int, error: SyncError, using generator: inout some RandomNumberGenerator
  ) -> Duration? {
    pause(afterFailures: failures, error: error, random: generator.next())
  }

  /// Returns the pause before the next attempt, drawn from 64 random bits.
  package func pause(afterFailures failures: Int, error: SyncError, random: UInt64) -> Duration? {
    guard error.code.isRetryable, failures < attempts else { return nil }
    if let asked = error.retryAfter, asked > cap { return nil }
    return max(ceiling(afterFailures: failures) * random.fraction, error.retryAfter ?? .zero)
  }

  /// Returns the longest pause after a number of failures, 1 or more.
  ///
  /// The remote may ask for another pause.
  func ceiling(afterFailures failures: Int) -> Duration {
    base.doubled(times: failures - 1, upTo: cap)
  }
}

extension Duration {
  /// Returns the duration doubled some times, at most the limit.
  func doubled(times: Int, upTo limit: Duration) -> Duration {
    var (result, left) = (min(self, limit), times)
    // Zero stays zero, and any other duration reaches the limit soon.
    while left > 0, result > .zero, result < limit {
      result = result > limit / 2 ? limit : result * 2
      left -= 1
    }
    return result
  }
}
