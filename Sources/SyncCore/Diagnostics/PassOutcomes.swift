public import SyncModels

/// The history of one type's syncs, kept in the store across restarts.
public struct PassOutcomes: Hashable, Sendable {
  /// When a pass was last completed.
  public var lastSuccess: Timestamp?
  /// When a pass was last started or resumed.
  public var lastAttempt: Timestamp?
  /// The last failure; `nil` once a pass is completed again.
  public var lastError: Failure?
  /// The number of failed attempts since the last success.
  public var consecutiveFailures: Int
  /// The number of passes completed in the store's life.
  public var successes: Int
  /// The number of failed attempts in the store's life.
  public var failures: Int

  /// Creates the status of a type that was never synced.
  public init() {
    consecutiveFailures = 0
    successes = 0
    failures = 0
  }

  /// The share of finished attempts that succeeded, 0 to 1; `nil` before the first.
  ///
  /// A stopped attempt does not count.
  public var successRate: Double? {
    let (successes, failures) = (Double(successes), Double(failures))
    return successes + failures > 0 ? successes / (successes + failures) : nil
  }

  /// A recorded failure.
  public struct Failure: Hashable, Sendable {
    /// The code's stable name.
    public var code: String
    /// The description, without record contents.
    public var message: String
    /// The end of the pause that the remote asked for, if it did.
    public var retryAt: Timestamp?

    /// Creates a recorded failure.
    public init(code: String, message: String, retryAt: Timestamp? = nil) {
      self.code = code
      self.message = message
      self.retryAt = retryAt
    }
  }
}
