public import SyncModels

/// One request for a transport to send.
public struct HTTPRequest: Hashable, Sendable {
  /// The method, such as `GET`.
  public var method: String
  /// The address.
  public var address: HTTPAddress
  /// The headers. The transport adds `Host` and the like.
  public var headers: HTTPHeaders
  /// The body; empty for none.
  public var body: [UInt8]
  /// The longest time from the call to the body's last byte.
  public var deadline: Duration
  /// The most bytes of the answer's body, as delivered to the caller.
  public var bodyLimit: Int
  /// Whether a second copy has no second effect, for a reason outside the headers.
  public var repeatsSafely = false

  /// Creates a request.
  public init(
    _ method: String, _ address: HTTPAddress, headers: HTTPHeaders = [:], body: [UInt8] = [],
    deadline: Duration = .seconds(60), bodyLimit: Int = 64 << 20
  ) {
    self.method = method
    self.address = address
    self.headers = headers
    self.body = body
    self.deadline = deadline
    self.bodyLimit = bodyLimit
  }
}

extension HTTPRequest {
  /// Whether the server may receive a copy over a second connection without a second effect.
  ///
  /// That is so for requests that only read, and for those with a precondition or an idempotency
  /// key.
  public var mayBeRepeated: Bool {
    if repeatsSafely || ["GET", "HEAD", "OPTIONS"].contains(method) { return true }
    return ["If-Match", "If-None-Match", "If-Unmodified-Since", "Idempotency-Key"].contains {
      headers[$0] != nil
    }
  }
}

extension HTTPRequest {
  /// The error for an answer whose body is longer than ``bodyLimit``.
  ///
  /// It tells callers to request less.
  public var answerTooLong: SyncError { HTTPFailure.tooLong(self) }
}

extension HTTPRequest: CustomStringConvertible {
  /// The method and the origin, fit for a log.
  public var description: String { "\(method) \(address.origin)" }
}
