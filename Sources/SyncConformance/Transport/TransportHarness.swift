public import SyncModels

/// How the checks get at a transport of HTTP requests, such as those of HTTPAdapters, and at servers to ask.
///
/// The transport is described by functions, so that the checks need no adapter. One harness holds one transport and serves one check.
public struct TransportHarness: Sendable {
  /// A request, as the transport is to send it.
  public struct Request: Sendable {
    /// What is asked for, such as `GET`.
    public var method = "GET"
    /// The whole address.
    public var address: String
    /// The headers, by name.
    public var headers: [String: String] = [:]
    /// The body; empty for none.
    public var body: [UInt8] = []
    /// How long it may take.
    public var deadline: Duration = .seconds(60)
    /// How many bytes the answer's body may have.
    public var bodyLimit = 1 << 20

    init(_ address: String) { self.address = address }
  }

  /// An answer, whole.
  public struct Answer: Sendable {
    /// The status, such as 200.
    public var status: Int
    /// The headers, by their names in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]

    /// Describes an answer.
    public init(status: Int, headers: [String: String], body: [UInt8]) {
      self.status = status
      self.headers = headers
      self.body = body
    }
  }

  /// Sends a request and returns its answer, whatever the status.
  public var send: @Sendable (Request) async throws(SyncError) -> Answer
  /// Runs a body with a server that follows a script, and stops the server.
  public var serve:
    @Sendable (@escaping WireScript, @Sendable (any WireServer) async throws -> Void) async throws -> Void
  /// Whether the process outlives a connection that ends inside the headers. Where it does not, the checks that would end it are skipped.
  public var survivesCutHeads = true
  /// Whether the headers are bounded, and a write on a connection that was closed is told from one that is waited for.
  public var seesToConnections = true

  /// Describes how to get at a transport.
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
