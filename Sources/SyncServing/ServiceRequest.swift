/// One HTTP request to a service, as a listener or a web framework has read it.
public struct ServiceRequest: Sendable {
  /// The method, in capitals.
  public var method: String
  /// The path and the query, as the request's first line has them.
  public var target: String
  /// The headers, by their names in lower case; of a repeated one the values, joined by commas.
  public var headers: [String: String]
  /// The whole body.
  public var body: [UInt8]

  /// Creates a request; the names of the headers are put into lower case.
  public init(_ method: String, _ target: String, headers: [String: String] = [:], body: [UInt8] = []) {
    (self.method, self.target, self.headers, self.body) = (method, target, [:], body)
    for (name, value) in headers { self.headers[name.lowercased()] = value }
  }
}

/// The answer to a ``ServiceRequest``.
public struct ServiceResponse: Sendable {
  /// The status.
  public var status: Int
  /// The headers, without `Content-Length` and `Connection`, which are the listener's.
  public var headers: [String: String]
  /// The body.
  public var body: Body

  /// Creates an answer.
  public init(status: Int, headers: [String: String] = [:], body: Body = .bytes([])) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  /// The body of an answer.
  public enum Body: Sendable {
    /// The whole body. The answer to `HEAD` has none.
    case bytes([UInt8])
    /// A body without an end, of which each call gives the next part; `nil` after the last.
    ///
    /// A call waits until there is something to send, at most some seconds. A listener asks no more
    /// once the client is gone or it stops.
    case stream(@Sendable () async -> [UInt8]?)
  }

  /// The bytes of the body; none of a stream.
  public var bytes: [UInt8] {
    if case .bytes(let bytes) = body { bytes } else { [] }
  }
}
