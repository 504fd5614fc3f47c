public import SyncModels

/// Access of the checks to an HTTP transport, such as those of HTTPAdapters.
///
/// Functions describe the transport, so the checks need no adapter. The harness also provides
/// servers. One harness has one transport and serves one check.
public struct TransportHarness: Sendable {
  /// A request for the transport to send.
  public struct Request: Sendable {
    /// The method, such as `GET`.
    public var method = "GET"
    /// The complete address.
    public var address: String
    /// The headers, by name.
    public var headers: [String: String] = [:]
    /// The body; empty for none.
    public var body: [UInt8] = []
    /// The time limit of the request.
    public var deadline: Duration = .seconds(60)
    /// The most bytes of the answer's body.
    public var bodyLimit = 1 << 20

    init(_ address: String) { self.address = address }
  }

  /// A complete answer.
  public struct Answer: Sendable {
    /// The status, such as 200.
    public var status: Int
    /// The headers, by their names in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, headers: [String: String], body: [UInt8]) {
      self.status = status
      self.headers = headers
      self.body = body
    }
  }

  /// Sends a request and returns its answer, regardless of the status.
  public var send: @Sendable (Request) async throws(SyncError) -> Answer
  /// Runs a body with a server that follows a script, and stops the server.
  public var serve:
    @Sendable (@escaping WireScript, @Sendable (any WireServer) async throws -> Void) async throws -> Void
  /// Whether the process survives a connection that ends inside the headers.
  ///
  /// Otherwise the checks that would end the process are skipped.
  public var survivesCutHeads = true
  /// Whether the transport bounds headers and detects closed connections.
  ///
  /// It then distinguishes a write on a closed connection from one that waits for its answer.
  public var seesToConnections = true

  /// Creates access to a transport.
  public init(
    send: @escaping @Sendable (Request) async throws(SyncError) -> Answer,
    serve:
      @escaping @Sendable (@escaping WireScript, @Sendable (any WireServer) async throws -> Void) async throws
      -> Void
  ) {
    self.send = send
    self.serve = serve
  }
}

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
