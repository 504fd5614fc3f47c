#if Curl && os(Linux)
  import CanonicalSyncTestProcesses
  import CanonicalSyncTestServers
  import CurlAdapters
  import Foundation
  import HTTPAdapters
  import InMemoryAdapters
  import SyncConformance
  import SyncModels
  import Testing

  @Suite("Transfers by libcurl", .timeLimit(.minutes(10)))
  struct CurlTransportTests {
    private func request(_ server: any WireServer, _ path: String = "/") throws -> HTTPRequest {
      HTTPRequest("GET", try #require(HTTPAddress("\(server.origin)\(path)")), bodyLimit: 1 << 20)
    }

    private static func answer(_ body: [UInt8], _ more: String = "") -> [UInt8] {
      Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(more)\r\n".utf8) + body
    }

    private static let always: WireScript = { _, send in send(answer(Array("hello".utf8))) }
    private static let never: WireScript = { _, _ in true }

    /// The output of a shell command.
    private static func output(of command: String) throws -> [UInt8] {
      Array(try ChildProcess.run(["sh", "-c", command]).output)
    }

    // MARK: Destinations of requests

    @Test func noProxyOfTheEnvironmentSeesARequest() async {
      await #expect(processExitsWith: .success) {
        try await LoopbackServer.following(Self.always) { proxy in
          for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            setenv(name, proxy.origin, 1)
          }
          try await LoopbackServer.following(Self.always) { server in
            let address = try #require(HTTPAddress("\(server.origin)/"))
            var request = HTTPRequest("GET", address)
            request.headers["Authorization"] = "Bearer secret"
            #expect(try await CurlTransport.alone().send(request).status == 200)
            #expect(server.requests.count == 1)
            #expect(proxy.connections == 0)
          }
        }
      }
    }

    @Test func aProxyThatIsNamedIsSentAllOfThem() async throws {
      try await LoopbackServer.following(Self.always) { proxy in
        var options = CurlTransport.Options()
        options.proxy = HTTPAddress(proxy.origin)
        let address = try #require(HTTPAddress("http://localhost:1/a"))
        _ = try await CurlTransport.alone(options).send(HTTPRequest("GET", address))
        #expect(proxy.requests.map(\.head).first?.hasPrefix("GET http://localhost:1/a HTTP/1.1") == true)
      }
    }

    @Test(arguments: [("X-A", "b\r\nX-C: d"), ("X-A\r\nX-C: d", "b"), ("X A", "b"), ("X-A", "b\0c")])
    func noHeaderBeginsAnotherOne(_ name: String, _ value: String) async throws {
      try await LoopbackServer.following(Self.always) { server in
        var request = try request(server)
        request.headers[name] = value
        let sent = request
        let error = await #expect(throws: SyncError.self) { _ = try await CurlTransport.alone().send(sent) }
        #expect(error?.code == .invalidConfiguration)
        #expect(server.connections == 0)
      }
    }

    @Test func aPathIsSentAsItIs() async throws {
      try await LoopbackServer.following(Self.always) { server in
        _ = try await CurlTransport.alone().send(request(server, "/a/../b/./%2e%2e/c"))
        #expect(server.requests.first?.head.hasPrefix("GET /a/../b/./%2e%2e/c HTTP/1.1\r\n") == true)
      }
    }

    @Test func aWriteWithoutAPreconditionTakesAConnectionOfItsOwn() async throws {
      let transport = CurlTransport.alone()
      try await LoopbackServer.following(Self.always) { server in
        var request = try request(server)
        _ = try await transport.send(request)
        request.method = "PUT"
        request.headers["If-Match"] = "\"1\""
        _ = try await transport.send(request)
        #expect(server.connections == 1)
        request.headers["If-Match"] = nil
        _ = try await transport.send(request)
        #expect(server.connections == 2)
        request.repeatsSafely = true
        _ = try await transport.send(request)
        #expect(server.connections == 2)
      }
    }

    // MARK: Certificates

    private static let needsTLS: ConditionTrait = .enabled(
      if: TLSFront.authority != nil, "openssl or python3 is missing.")

    @Test(needsTLS) func aServerWithoutATrustedCertificateIsSentNothing() async throws {
      try await TLSFront.following(Self.always) { server in
        var request = try request(server)
        request.headers["Authorization"] = "Bearer secret"
        let sent = request
        let error = await #expect(throws: SyncError.self) { _ = try await CurlTransport.alone().send(sent) }
        #expect(error?.code == .untrustedServer)
        #expect(error?.message.contains("The certificate is not trusted") == true)
        #expect(server.requests.isEmpty)
      }
    }

    @Test(needsTLS) func aCertificateForAnotherNameIsNotTrusted() async throws {
      var options = CurlTransport.Options()
      options.certificateAuthorities = TLSFront.authority
      try await TLSFront.following(Self.always) { server in
        let request = try request(server)
        #expect(try await CurlTransport.alone(options).send(request).status == 200)
        let other = try #require(HTTPAddress("https://localhost:\(server.port)/"))
        let error = await #expect(throws: SyncError.self) {
          _ = try await CurlTransport.alone(options).send(HTTPRequest("GET", other))
        }
        #expect(error?.code == .untrustedServer)
        #expect(server.requests.count == 1)
      }
    }

    @Test(needsTLS) func authoritiesThatCannotBeReadAreAMistakeOfOurs() async throws {
      var options = CurlTransport.Options()
      options.certificateAuthorities = "/nowhere/authorities.pem"
      try await TLSFront.following(Self.always) { server in
        let error = await #expect(throws: SyncError.self) {
          _ = try await CurlTransport.alone(options).send(request(server))
        }
        #expect(error?.code == .invalidConfiguration)
      }
    }

    // MARK: HTTP/2

    @Test(needsTLS, .enabled(if: TLSFront.speaksHTTP2, "nghttpx is missing."))
    func aServerThatSpeaksHTTP2IsSpokenToInIt() async throws {
      var options = CurlTransport.Options()
      options.certificateAuthorities = TLSFront.authority
      let large = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
      let script: WireScript = { request, send in
        send(Self.answer(request.head.hasPrefix("GET /large") ? large : Array("hello".utf8)))
      }
      try await TLSFront.following(script, speaking: .two) { server in
        let transport = CurlTransport.alone(options)
        try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<20 {
            let request = try request(server, number.isMultiple(of: 4) ? "/large" : "/\(number)")
            group.addTask {
              let response = try await transport.send(request)
              #expect(response.status == 200)
              return response.body.count
            }
          }
          let sizes = try await group.reduce(into: []) { $0.append($1) }.sorted()
          #expect(sizes == Array(repeating: 5, count: 15) + Array(repeating: large.count, count: 5))
        }
        // The front records the version of each request.
        #expect(server.requests.count == 20)
        #expect(server.requests.allSatisfy { $0.head.lowercased().contains("via: 2 nghttpx") })

        var limited = try request(server, "/large")
        limited.bodyLimit = 1000
        let tooLarge = limited
        let error = await #expect(throws: SyncError.self) { _ = try await transport.send(tooLarge) }
        #expect(error?.code == .invalidResponse)
        #expect(try await transport.send(request(server)).status == 200)
      }
    }

    // MARK: Deadlines

    @Test func theDeadlineOfTheWholeIsTheClocks() async throws {
      let clock = ManualClock()
      try await LoopbackServer.following(Self.never) { server in
        var request = try request(server)
        request.deadline = .milliseconds(1500)
        let sent = request
        let answer = Task { try await CurlTransport.alone(clock: clock).send(sent) }
        #expect(await clock.nextSleep() == .milliseconds(1500))
        clock.advance(by: .milliseconds(1500))
        let error = await #expect(throws: SyncError.self) { _ = try await answer.value }
        #expect(error?.code == .remoteUnavailable)
        #expect(error?.message.contains("did not complete its answer within 1.5 seconds") == true)
        #expect(clock.sleepers == 0)
      }
    }

    @Test func theFirstByteHasADeadlineOfItsOwn() async throws {
      let clock = ManualClock()
      try await LoopbackServer.following(Self.never) { server in
        var options = CurlTransport.Options()
        options.firstByteDeadline = .seconds(3)
        let request = try request(server)
        let transport = CurlTransport.alone(options, clock: clock)
        let answer = Task { try await transport.send(request) }
        #expect(await clock.nextSleep() == .seconds(3))
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: SyncError.self) { _ = try await answer.value }
        #expect(error?.code == .remoteUnavailable)
        #expect(error?.message.contains("did not begin to answer within 3.0 seconds") == true)
      }
    }

    @Test func aConnectionThatIsNotMadeIsNotWaitedFor() async throws {
      var options = CurlTransport.Options()
      options.connectDeadline = .milliseconds(200)
      // A port that accepts no more than one connection, which exists already.
      try await FullPort.with { port in
        let address = try #require(HTTPAddress("http://127.0.0.1:\(port)/"))
        let error = await #expect(throws: SyncError.self) {
          _ = try await CurlTransport.alone(options, clock: ManualClock()).send(HTTPRequest("GET", address))
        }
        #expect(error?.code == .remoteUnavailable)
        #expect(error?.message.contains("within 0.2 seconds") == true)
      }
    }

    @Test func aDeadlineMayBeAsLongAsDurationsAre() async throws {
      var options = CurlTransport.Options()
      options.connectDeadline = .seconds(Int64.max)
      try await LoopbackServer.following(Self.always) { server in
        let request = try request(server)
        #expect(try await CurlTransport.alone(options).send(request).status == 200)
      }
    }

    @Test func anAbsentServerIsUnavailable() async throws {
      for text in ["http://127.0.0.1:1/", "http://nobody.invalid/"] {
        let address = try #require(HTTPAddress(text))
        let error = await #expect(throws: SyncError.self) {
          _ = try await CurlTransport.alone().send(HTTPRequest("GET", address))
        }
        #expect(error?.code == .remoteUnavailable)
        #expect(error?.message.contains("no connection") == true)
      }
    }

    // MARK: Compression

    @Test func aBodyThatWasAskedForCompressedIsDecompressedUpToItsLimit() async throws {
      let bodies = [
        "small": try Self.output(of: "printf '[1,2]' | gzip -c"),
        "large": try Self.output(of: "head -c 67108864 /dev/zero | gzip -c"),
        "cut": Array(try Self.output(of: "printf '[1,2]' | gzip -c").dropLast(12)),
      ]
      try await LoopbackServer.following({ request, send in
        let name = request.head.split(separator: " ")[1].dropFirst()
        return send(Self.answer(bodies[String(name)] ?? [], "Content-Encoding: gzip\r\n"))
      }) { server in
        func send(_ path: String) async throws -> HTTPResponse {
          var request = try request(server, path)
          request.headers["Accept-Encoding"] = "gzip"
          return try await CurlTransport.alone().send(request)
        }
        let small = try await send("/small")
        #expect(small.body == Array("[1,2]".utf8))
        #expect(small.headers["Content-Encoding"] == nil)
        let large = await #expect(throws: SyncError.self) { _ = try await send("/large") }
        #expect(large?.code == .invalidResponse)
        let cut = await #expect(throws: SyncError.self) { _ = try await send("/cut") }
        #expect(cut?.code.isRetryable == true)
      }
    }
  }
#endif
