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

  /// A type that was never synced.
  public init() {
    consecutiveFailures = 0
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
