import Foundation
import HTTPAdapters
import InMemoryAdapters
import SyncModels
import TestServers
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

  @Test(arguments: ["200 OK", "401 Unauthorized", "403 Forbidden", "412 Precondition Failed", "503 Busy"])
  func anAnswerComesWithItsStatusHeadersAndBody(_ status: String) async throws {
    let text = Self.answer("hello", "ETag: \"5\"\r\nWWW-Authenticate: Basic realm=\"r\"\r\n", status: status)
    try await LoopbackServer.with(LoopbackServer.fixed(text)) { server in
      var request = try request(server, "/v1?a=%2Cb")
      request.headers["X-Mine"] = "yes"
      let response = try await URLSessionTransport().send(request)
      #expect(response.status == Int(status.prefix(3)))
      #expect(response.headers["etag"] == "\"5\"")
      #expect(response.body == Array("hello".utf8))
      #expect(server.heads.count == 1)
      #expect(server.heads[0].hasPrefix("GET /v1?a=%2Cb HTTP/1.1"))
      let head = server.heads[0].lowercased()
      #expect(head.contains("x-mine: yes"))
      #expect(head.contains("accept-encoding: identity"))
      #expect(!head.contains("cookie"))
    }
  }

  @Test func connectionsAreKept() async throws {
    try await LoopbackServer.with(LoopbackServer.fixed(Self.answer("x", "Set-Cookie: a=b\r\n"))) { server in
      let transport = URLSessionTransport()
      for _ in 1...5 { _ = try await transport.send(request(server)) }
      #expect(server.heads.count == 5)
      #expect(server.connections == 1)
      #expect(!server.heads.contains { $0.lowercased().contains("cookie:") })
    }
  }

  @Test func aRedirectIsAnAnswerAndNothingGoesElsewhere() async throws {
    try await LoopbackServer.with(LoopbackServer.fixed(Self.answer(""))) { other in
      let redirect = Self.answer("", "Location: \(other.origin)/stolen\r\n", status: "302 Found")
      try await LoopbackServer.with(LoopbackServer.fixed(redirect)) { server in
        var request = try request(server)
        request.headers["Authorization"] = "Bearer secret"
        let response = try await URLSessionTransport().send(request)
        #expect(response.status == 302)
        #expect(response.headers["Location"] == "\(other.origin)/stolen")
        #expect(other.connections == 0)
        #expect(server.heads.count == 1)
      }
    }
  }

  @Test(arguments: [false, true])
  func anEndlessBodyIsRefusedAtItsLimit(_ isChunked: Bool) async throws {
    let head = "HTTP/1.1 200 OK\r\n\(isChunked ? "Transfer-Encoding: chunked\r\n" : "")\r\n"
    let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
    let chunk = isChunked ? Array("10000\r\n".utf8) + block + Array("\r\n".utf8) : block
    try await LoopbackServer.with({ _, send in
      _ = send(Array(head.utf8))
      // Endless, but no faster than its reader can say that it is enough: what is on its way is in memory.
      while send(chunk) { Thread.sleep(forTimeInterval: 0.002) }
    }) { server in
      let error = await #expect(throws: SyncError.self) {
        try await URLSessionTransport().send(request(server))
      }
      #expect(error?.code == .invalidResponse)
    }
  }

  @Test func aBodyAnnouncedAsTooLongIsNotWaitedFor() async throws {
    try await LoopbackServer.with(
      LoopbackServer.fixed("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    ) { server in
      let error = await #expect(throws: SyncError.self) {
        try await URLSessionTransport().send(request(server))
      }
      #expect(error?.code == .invalidResponse)
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
      // No deadline passes on a clock that stands still.
      let error = await #expect(throws: SyncError.self) {
        try await URLSessionTransport(clock: clock).send(request(server))
      }
      #expect(error?.code == .remoteUnavailable)
      #expect(error?.message.contains("did not complete") == false)
    }
  }

  @Test func nobodyThereIsUnavailable() async throws {
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
      request.deadline = .milliseconds(1500)
      let transport = URLSessionTransport(clock: clock)
      let sent = request
      let answer = Task { try await transport.send(sent) }
      #expect(await clock.nextSleep() == .milliseconds(1500))
      clock.advance(by: .milliseconds(1500))
      let error = await #expect(throws: SyncError.self) { _ = try await answer.value }
      #expect(error?.code == .remoteUnavailable)
      #expect(error?.message.contains("did not complete its answer within 1.5 seconds") == true)
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
      // The server sees that nobody listens any more.
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
            server: "\(server.origin)/v1", bucket: "b", credentials: .bearer("secret"), options: options)
          let error = await #expect(throws: SyncError.self) { try await source.page() }
          #expect(error?.code == .invalidResponse)
          #expect(server.heads.allSatisfy { $0.contains("Bearer secret") })
        }
      }
      #expect(other.connections == 0)
    }
  }
}
