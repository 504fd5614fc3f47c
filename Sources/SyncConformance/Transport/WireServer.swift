/// A server that sends the exact bytes of a check, even invalid ones.
public protocol WireServer: Sendable {
  /// The scheme, host and port of the server.
  var origin: String { get }
  /// The completely received requests, in order.
  var requests: [WireRequest] { get }
  /// The number of connections.
  var connections: Int { get }
}

/// A request as it was received.
public struct WireRequest: Hashable, Sendable {
  /// The first line and the headers, with the final empty line.
  public var head: String
  /// The body, as long as the headers declare.
  public var body: [UInt8]

  /// Creates a request.
  public init(head: String, body: [UInt8]) {
    self.head = head
    self.body = body
  }
}

/// A server's answer to one request.
///
/// Its second argument sends bytes at once, and returns `false` when the client accepts no more.
/// The script returns whether the connection is kept. Otherwise it is closed in an orderly way.
public typealias WireScript = @Sendable (_ request: WireRequest, _ send: ([UInt8]) -> Bool) -> Bool
