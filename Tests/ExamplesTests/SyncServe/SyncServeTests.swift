#if SQLite && Curl
  import CanonicalSyncTestProcesses
  import CanonicalSyncTestServers
  import Foundation
  import HTTPAdapters
  import KintoAdapters
  import SyncAdapters
  import Testing

  @Suite("sync-serve", .timeLimit(.minutes(5)))
  struct SyncServeTests {
    private static let tool = Tool(name: "sync-serve")
    private static let auth = "Basic \(Data("ann:secret".utf8).base64EncodedString())"

    /// Calls a body with the address of a running tool, and stops it by SIGTERM.
    private func serving(
      _ folder: Folder, _ options: [String] = ["--origin"], environment: [String: String] = [:],
      _ body: (_ address: String, _ tool: RunningTool) async throws -> Void
    ) async throws {
      let tool = try Self.tool.start(
        ["--store", folder.path("served.sqlite"), "--bucket", "b", "--listen", "127.0.0.1:0"] + options,
        environment: environment)
      #expect(await tool.waitForOutput { $0.contains("\n") }, "\(tool.errorsSoFar)")
      let address = tool.outputSoFar.split(separator: "\n").first.map(String.init) ?? ""
      do {
        try await body(String(address.dropLast()), tool)
      } catch {
        tool.send(SIGKILL)
        throw error
      }
      tool.send(SIGTERM)
      let outcome = await tool.outcome()
      #expect(outcome.status == 0 && !outcome.wasKilled, "\(outcome)")
    }

    private func send(
      _ method: String, _ address: String, _ body: String = "", _ headers: [String: String] = [:]
    ) async throws -> HTTPResponse {
      var request = HTTPRequest(method, try #require(HTTPAddress(address)), body: Array(body.utf8))
      if !body.isEmpty { request.headers["Content-Type"] = "application/json" }
      for (name, value) in headers { request.headers[name] = value }
      return try await TestTransport.make().send(request)
    }

    @Test func servesAStoreThatClientsFillAndAnotherRunGoesOn() async throws {
      try await withFolder { folder in
        var etag: String?
        for run in 0..<2 {
          try await serving(folder, ["--origin", "--metrics-file", folder.path("m.prom")]) { address, _ in
            let records = "\(address)/buckets/b/collections/notes/records"
            if run == 0 {
              #expect(try await send("PUT", "\(address)/buckets/b", "{}").status == 200)
              #expect(try await send("PUT", "\(address)/buckets/b/collections/notes", "{}").status == 201)
              #expect(try await send("PUT", "\(records)/n1", #"{"data":{"t":"x"}}"#).status == 201)
            } else {
              #expect(try await send("GET", records).headers["ETag"] == etag)
            }
            etag = try await send("GET", records).headers["ETag"]
          }
        }
        let metrics = try String(contentsOfFile: folder.path("m.prom"), encoding: .utf8)
        #expect(metrics.contains("canonicalsync_served_requests_total{status=\"200\"} 2"))
        let status = try await Tool(name: "sync-inspect").run(
          "outbox", "--store", folder.path("served.sqlite"), "--json")
        #expect(status.status == 0)
      }
    }

    @Test func asksForAUserOfTheEnvironment() async throws {
      try await withFolder { folder in
        try await serving(
          folder, ["--origin", "--auth", "env:PEOPLE"], environment: ["PEOPLE": "ann:secret, bob:pass:word"]
        ) { address, _ in
          for (header, status) in [
            ("", 401), (Self.auth, 200), ("Basic \(Data("bob:pass:word".utf8).base64EncodedString())", 200),
            ("Basic \(Data("bob:secret".utf8).base64EncodedString())", 401), ("Basic %%%", 401),
            ("Basic \(Data("bob:".utf8).base64EncodedString())", 401),
          ] {
            let response = try await send(
              "GET", "\(address)/", "", header.isEmpty ? [:] : ["Authorization": header])
            #expect(response.status == status, "\(header)")
          }
        }
      }
    }

    @Test(arguments: [
      ["--bucket", "b", "--listen", "127.0.0.1:0"],
      ["--store", "s", "--bucket", "a/b", "--listen", "127.0.0.1:0"],
      ["--store", "s", "--bucket", "b", "--listen", "nowhere"],
      ["--store", "s", "--bucket", "b", "--listen", "x:1"],
      ["--store", "s", "--bucket", "b", "--listen", "127.0.0.1:99999"],
      ["--store", "s", "--bucket", "b", "--listen", "0.0.0.0:0"],
      ["--store", "s", "--bucket", "b", "--listen", "127.0.0.1:0", "--auth", "ann:secret"],
      ["--store", "s", "--bucket", "b", "--listen", "127.0.0.1:0", "--auth", "env:CANONICALSYNC_NOBODY"],
    ])
    func aWrongCommandLineIsRefused(_ arguments: [String]) async throws {
      try await withFolder { folder in
        let outcome = try await Self.tool.start(arguments, in: folder.url).outcome()
        #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
        #expect(!outcome.errors.contains("ann:secret"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("s")))
      }
    }

    @Test func aMirrorIsServedAndEditsOfClientsWaitForItsPush() async throws {
      try await withFolder { folder in
        let path = folder.path("served.sqlite")
        let synced = try await Tool(name: "schedule-sync").run("--store", path, "--quiet")
        #expect(synced.status == 0)
        try await serving(folder, []) { address, _ in
          let teams = "\(address)/buckets/b/collections/teams/records"
          let first = try await send("GET", "\(teams)?_limit=1")
          #expect(first.status == 200 && first.headers["Next-Page"] != nil)
          #expect(try await send("PUT", "\(teams)/new-team", #"{"data":{"name":"N"}}"#).status == 201)
          #expect(try await send("PUT", "\(address)/buckets/b/collections/other", "{}").status == 403)
        }
        let outbox = try await Tool(name: "sync-inspect").run("outbox", "--store", path)
        #expect(outbox.output.contains("new-team"))
      }
    }

    @Test func hugeAndBrokenRequestsAreRefusedAndTheRestGoesOn() async throws {
      try await withFolder { folder in
        try await serving(folder) { address, _ in
          let port = try #require(Int(address.split(separator: ":").last?.prefix { $0.isNumber } ?? ""))
          for (text, status) in [
            ("GET /v1/ HTTP/1.1\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n", "431"),
            ("PUT /v1/ HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "413"),
            ("PUT /v1/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", "400"),
            ("PUT /v1/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "411"),
            ("nonsense\r\n\r\n", "400"), ("GET /v1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "200"),
          ] {
            let answer = try RawRequest.answer(to: text, port: port)
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer.prefix(80))")
          }
          // Two requests on one connection, of which the first is sent in halves.
          let both =
            "GET /v1/__heartbeat__ HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/ HTTP/1.1\r\nConnection: close\r\n\r\n"
          #expect(
            try RawRequest.answer(to: both, port: port, inHalves: true).components(
              separatedBy: "HTTP/1.1 200"
            ).count == 3)
        }
      }
    }

    @Test func aClientHearsOfAnEditBeforeItsWaitEnds() async throws {
      try await withFolder { folder in
        try await serving(folder) { address, _ in
          _ = try await send("PUT", "\(address)/buckets/b/collections/notes", "{}")
          var options = KintoSource.Options()
          options.allowsPlainHTTP = true
          let source = try KintoSource(
            server: address, bucket: "b", options: options, transport: TestTransport.make())
          let (heard, continuation) = AsyncStream.makeStream(of: [RecordType].self)
          let listening = Task { try await RemoteSignal(source).run { continuation.yield($0) } }
          var signals = heard.makeAsyncIterator()
          #expect(await signals.next() == [])
          let start = ContinuousClock.now
          _ = try await send("PUT", "\(address)/buckets/b/collections/notes/records/n1", #"{"data":{}}"#)
          #expect(await signals.next() == ["notes"])
          // The client asks the server to wait for 20 seconds. Even a busy machine answers sooner.
          #expect(ContinuousClock.now - start < .seconds(18))
          listening.cancel()
          await #expect(throws: SyncError.self) { try await listening.value }
        }
      }
    }
  }
#endif
