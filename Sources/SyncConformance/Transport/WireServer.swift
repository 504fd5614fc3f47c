/// A server that says what a check tells it, byte for byte, however wrong that is.
public protocol WireServer: Sendable {
  /// Where it is: scheme, host and port.
  var origin: String { get }
  /// The requests that came whole, in their order.
  var requests: [WireRequest] { get }
  /// How many connections were made.
  var connections: Int { get }
}

/// A request as it came over the wire.
public struct WireRequest: Hashable, Sendable {
  /// The first line and the headers, their empty line included.
  public var head: String
  /// As many bytes as the headers announce.
  public var body: [UInt8]

  /// Describes a request.
  public init(head: String, body: [UInt8]) {
    self.head = head
    self.body = body
  }
}

/// What a server says to one request.
///
/// The function that it is given sends bytes at once, and returns `false` when the other side takes no more of them. The script returns
/// whether the connection is kept; otherwise it is ended in an orderly way.
public typealias WireScript = @Sendable (_ request: WireRequest, _ send: ([UInt8]) -> Bool) -> Bool
