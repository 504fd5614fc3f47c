import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import SyncConformance
import SyncModels
import Testing

@Suite("URLSession as a transport", .timeLimit(.minutes(10)))
struct URLSessionTransportTests {
  private func request(
    _ server: LoopbackServer, _ path: String = "/", limit: Int = 1 << 20
  ) throws -> HTTPRequest {
    HTTPRequest("GET", try #require(HTTPAddress("\(server.origin)\(path)")), bodyLimit: limit)
  }

  private static func answer(_ body: String, _ more: String = "", status: String = "200 OK") -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(more)\r\n\(body)"
  }

  @Test(arguments: TransportCheck.allCases)
  func keepsThePromisesOfATransport(_ check: TransportCheck) async throws {
    var harness = TransportHarness(URLSessionTransport())
    #if canImport(FoundationNetworking)
      // This is why Linux has another transport.
      harness.survivesCutHeads = false
      harness.seesToConnections = false
    #endif
    if case .skipped(let reason) = try await check.run(on: harness) {
      #expect(!harness.survivesCutHeads, "\(reason)")
    }
  }

  @Test func aCompressedBodyIsRefusedHoweverMuchIsBehindIt() async throws {
    let bomb = try Self.zeros(compressed: 20 << 20)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
    try await LoopbackServer.with({ _, send in _ = send(Array(head.utf8) + bomb) }) { server in
      let error = await #expect(throws: SyncError.self) {
        try await URLSessionTransport().send(request(server, limit: 200 << 20))
      }
      #expect(error?.code == .invalidResponse)
      #expect(error?.message.contains("compressed") == true)
    }
  }

  private static func zeros(compressed count: Int) throws -> [UInt8] {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "head -c \(count) /dev/zero | gzip -c"]
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Array(data)
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
  func anAnswerThatBreaksOffIsNoAnswer(_ text: String) async throws {
    let clock = ManualClock()
    try await LoopbackServer.with(hangsUp: true, LoopbackServer.fixed(text)) { server in
      // No deadline passes while the clock stands still.
      let error = await #expect(throws: SyncError.self) {
        try await URLSessionTransport(clock: clock).send(request(server))
      }
      #expect(error?.code == .remoteUnavailable)
      #expect(error?.message.contains("did not complete") == false)
    }
  }

  @Test func anAbsentServerIsUnavailable() async throws {
    let address = try #require(HTTPAddress("http://127.0.0.1:1/"))
    let error = await #expect(throws: SyncError.self) {
      try await URLSessionTransport().send(HTTPRequest("GET", address))
    }
    #expect(error?.code == .remoteUnavailable)
  }

  @Test func theDeadlineIsTheClocks() async throws {
    let clock = ManualClock()
    try await LoopbackServer.with({ _, _ in }) { server in
      var request = try request(server)
      // Far away, as a busy machine may let URLSession's own deadline pass first.
      request.deadline = .milliseconds(900_500)
      let transport = URLSessionTransport(clock: clock)
      let sent = request
      let answer = Task { try await transport.send(sent) }
      #expect(await clock.nextSleep() == .milliseconds(900_500))
      clock.advance(by: .milliseconds(900_500))
      let error = await #expect(throws: SyncError.self) { _ = try await answer.value }
      #expect(error?.code == .remoteUnavailable)
      #expect(error?.message.contains("did not complete its answer within 900.5 seconds") == true)
      #expect(clock.sleepers == 0)
    }
  }

  @Test func cancellingEndsTheTransferAsCancelled() async throws {
    let clock = ManualClock()
    let (arrived, hasArrived) = AsyncStream.makeStream(of: Void.self)
    let (closed, hasClosed) = AsyncStream.makeStream(of: Void.self)
    try await LoopbackServer.with({ _, send in
      hasArrived.finish()
      _ = send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
      while send([UInt8](repeating: 32, count: 1024)) { Thread.sleep(forTimeInterval: 0.002) }
      hasClosed.finish()
    }) { server in
      let request = try request(server, limit: 1 << 30)
      let task = Task { try await URLSessionTransport(clock: clock).send(request) }
      for await _ in arrived {}
      task.cancel()
      let error = await #expect(throws: SyncError.self) { _ = try await task.value }
      #expect(error?.code == .cancelled)
      #expect(clock.sleepers == 0)
      // The server detects that the client is gone.
      for await _ in closed {}
    }
  }

  @Test func credentialsStayWhereTheyBelongToTheLastByte() async throws {
    try await LoopbackServer.with(LoopbackServer.fixed(Self.answer(""))) { other in
      for lure in [
        "Location: \(other.origin)/v1/\r\n",
        "Next-Page: \(other.origin)/v1/buckets/b/collections/items/records?x\r\n",
      ] {
        let status = lure.hasPrefix("Location") ? "307 Temporary Redirect" : "200 OK"
        let body = #"{"data":[{"id":"a","last_modified":1}]}"#
        let answer = Self.answer(body, "ETag: \"5\"\r\n\(lure)", status: status)
        try await LoopbackServer.with(LoopbackServer.fixed(answer)) { server in
          var options = KintoSource.Options()
          options.allowsPlainHTTP = true
          let source = try KintoSource(
            server: "\(server.origin)/v1", bucket: "b", credentials: .bearer("secret"), options: options,
            transport: URLSessionTransport())
          let error = await #expect(throws: SyncError.self) { try await source.page() }
          #expect(error?.code == .invalidResponse)
          #expect(server.heads.allSatisfy { $0.contains("Bearer secret") })
        }
      }
      #expect(other.connections == 0)
    }
  }
}
