import SyncModels

/// A transport under check, and short forms for the checks.
struct TransportBench: Sendable {
  typealias Request = TransportHarness.Request

  let harness: TransportHarness

  /// Longer than any answer takes, even on a busy machine.
  static let patience = Duration.seconds(120)

  /// Runs a body with a server that follows a script.
  func serving(
    _ script: @escaping WireScript, _ body: @Sendable (any WireServer) async throws -> Void
  ) async throws {
    try await harness.serve(script, body)
  }

  /// Runs a body with a server that gives the same answer to each request.
  func serving(
    _ text: String, thenCloses: Bool = false, _ body: @Sendable (any WireServer) async throws -> Void
  ) async throws {
    try await serving({ _, send in send(Array(text.utf8)) && !thenCloses }, body)
  }

  /// Sends a GET request to a server.
  func get(_ server: any WireServer, _ target: String = "/") async throws(SyncError)
    -> TransportHarness.Answer
  {
    try await harness.send(request(server, target))
  }

  /// The end of a transfer.
  enum Outcome: Equatable {
    /// An answer with a status.
    case answered(Int)
    case failed(SyncError.Code)
  }

  /// Sends a request, and returns how it ended.
  func outcome(of request: Request) async -> Outcome {
    do {
      return .answered(try await harness.send(request).status)
    } catch {
      return .failed(error.code)
    }
  }

  func request(_ server: any WireServer, _ target: String = "/", method: String = "GET") -> Request {
    var request = Request(server.origin + target)
    request.method = method
    request.deadline = Self.patience
    return request
  }

  /// An answer with a declared length.
  static func answer(_ body: String, _ headers: String = "", status: String = "200 OK") -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
  }

  /// Checks that a request fails with a code.
  func expectFailure(
    _ code: SyncError.Code, _ sentence: @autoclosure () -> String, asking server: any WireServer
  ) async throws {
    try await expect(code, sentence()) { () async throws(SyncError) in _ = try await get(server) }
  }
}
