/// How the syncs of one type have gone, as it is kept in the store across restarts.
public struct TypeStatus: Hashable, Sendable, Codable {
  /// When a pass was last completed.
  public var lastSuccess: Timestamp?
  /// When a pass was last started or gone on with.
  public var lastAttempt: Timestamp?
  /// What went wrong last; `nil` once a pass was completed again.
  public var lastError: Failure?
  /// How many attempts failed since the last success.
  public var consecutiveFailures: Int
  /// How many passes were completed in the store's life.
  public var successes: Int
  /// How many attempts failed in the store's life.
  public var failures: Int

  /// A type that was never synced.
  public init() {
    consecutiveFailures = 0
    successes = 0
    failures = 0
  }

  /// Reads a status; one written before successes and failures were counted has none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    lastSuccess = try container.decodeIfPresent(Timestamp.self, forKey: .lastSuccess)
    lastAttempt = try container.decodeIfPresent(Timestamp.self, forKey: .lastAttempt)
    lastError = try container.decodeIfPresent(Failure.self, forKey: .lastError)
    consecutiveFailures = try container.decodeCount(forKey: .consecutiveFailures)
    successes = try container.decodeCountIfPresent(forKey: .successes) ?? 0
    failures = try container.decodeCountIfPresent(forKey: .failures) ?? 0
  }

  /// Which share of the attempts that ended was completed, 0 to 1; `nil` before the first.
  ///
  /// An attempt that was stopped is neither.
  public var successRate: Double? {
    let (successes, failures) = (Double(successes), Double(failures))
    return successes + failures > 0 ? successes / (successes + failures) : nil
  }

  /// A failure as it is remembered.
  public struct Failure: Hashable, Sendable, Codable {
    /// The code's stable name.
    public var code: String
    /// The description, without record contents.
    public var message: String
    /// Until when the remote asked to be left alone, where it did.
    public var retryAt: Timestamp?

    /// Describes a failure.
    public init(code: String, message: String, retryAt: Timestamp? = nil) {
      self.code = code
      self.message = message
      self.retryAt = retryAt
    }
  }
}
