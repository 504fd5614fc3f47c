import SyncModels

/// Kept connections that the server ends on the next request.
enum UnansweredChecks {
  /// Answers the first request of each connection, and ends it at the second.
  private static func withWarmConnection(
    _ bench: TransportBench, _ body: @Sendable (any WireServer) async throws -> Void
  ) async throws {
    try await bench.serving({ request, send in
      request.head.hasPrefix("GET /warm") && send(Array(TransportBench.answer("x").utf8))
    }) { server in
      _ = try await bench.get(server, "/warm")
      try await body(server)
    }
  }

  static func unansweredWriteArrivesOnce(_ bench: TransportBench) async throws {
    for method in ["PUT", "POST", "PATCH", "DELETE"] {
      try await withWarmConnection(bench) { server in
        var request = bench.request(server, "/write", method: method)
        if method != "DELETE" { request.body = Array("{}".utf8) }
        try await settlesAtOnce(request, bench)
        let arrived = server.requests.count { $0.head.hasPrefix("\(method) /write") }
        try expect(arrived, equals: 1, "A \(method) without a precondition arrives once, answered or not.")
      }
    }
  }

  static func unansweredWriteWithAPreconditionIsSettledAtOnce(_ bench: TransportBench) async throws {
    for header in ["If-Match", "If-None-Match", "Idempotency-Key"] {
      try await withWarmConnection(bench) { server in
        var request = bench.request(server, "/write", method: "PUT")
        request.headers[header] = "\"1\""
        request.body = Array("{}".utf8)
        try await settlesAtOnce(request, bench)
      }
    }
  }

  static func unansweredReadIsSettledAtOnce(_ bench: TransportBench) async throws {
    try await withWarmConnection(bench) { server in
      try await settlesAtOnce(bench.request(server, "/read"), bench)
    }
  }

  private static func settlesAtOnce(_ request: TransportHarness.Request, _ bench: TransportBench) async throws
  {
    let start = ContinuousClock.now
    try await expect(.remoteUnavailable, "A request without an answer has failed.") {
      () async throws(SyncError) in _ = try await bench.harness.send(request)
    }
    try expect(
      start.duration(to: .now) < TransportBench.patience / 2,
      "It is not waited for once the connection has ended.")
  }
}
