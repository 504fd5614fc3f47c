public import SyncModels

/// One request, as a transport is to send it.
public struct HTTPRequest: Hashable, Sendable {
  /// What is asked for, such as `GET`.
  public var method: String
  /// Where.
  public var address: HTTPAddress
  /// The headers; `Host` and the like are the transport's to add.
  public var headers: HTTPHeaders
  /// The body; empty for none.
  public var body: [UInt8]
  /// How long it may take, from the call to the body's last byte.
  public var deadline: Duration
  /// How many bytes the answer's body may have, as they are handed over.
  public var bodyLimit: Int
  /// Whether the request says more than its headers do that a second copy of it has no second effect.
  public var repeatsSafely = false

  /// Describes a request.
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
  /// Whether a copy that the server gets by a second connection has no second effect.
  ///
  /// That is so for requests that only read, and for those with a precondition or an idempotency key.
  public var mayBeRepeated: Bool {
    if repeatsSafely || ["GET", "HEAD", "OPTIONS"].contains(method) { return true }
    return ["If-Match", "If-None-Match", "If-Unmodified-Since", "Idempotency-Key"].contains {
      headers[$0] != nil
    }
  }
}

extension HTTPRequest {
  /// The failure for an answer whose body is longer than ``bodyLimit``, by which callers know to ask for less.
  public var answerTooLong: SyncError { HTTPFailure.tooLong(self) }
}

extension HTTPRequest: CustomStringConvertible {
  /// The method and the origin, fit for a log.
  public var description: String { "\(method) \(address.origin)" }
}
