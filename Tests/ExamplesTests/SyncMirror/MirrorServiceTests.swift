#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Synchronization
  import Testing

  /// A watch, as operators see it: its log, its metrics file, and its service manager.
  @Suite("sync-mirror --watch, as a service", .timeLimit(.minutes(10)))
  struct MirrorServiceTests {
    private static let tool = Tool(name: "sync-mirror")

    /// An API of one type, whose answer a test changes.
    private final class API: Sendable {
      private let answer = Mutex(API.page(["a"]))

      /// Answers with a page of records.
      func list(_ ids: [String]) { answer.withLock { $0 = API.page(ids) } }

      /// Answers with an error that is not retried within a poll.
      func fail() { answer.withLock { $0 = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" } }

      func respond(_ send: ([UInt8]) -> Bool) { _ = send(Array(answer.withLock { $0 }.utf8)) }

      private static func page(_ ids: [String]) -> String {
        let body =
          #"{"data":[\#(ids.map { #"{"id":"\#($0)","at":"2020-01-01T00:00:00Z"}"# }.joined(separator: ","))]}"#
        return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      }
    }

    private static func describe(_ server: LoopbackServer, in folder: Folder) throws {
      try folder.write(
        "api.json",
        [
          #"{"base":"\#(server.origin)","types":{"games":{"path":"games","records":"/data","#
            + #""version":"/at","paging":{"cursor":"/cursor","parameter":"after"}}}}"#
        ])
    }

    /// Starts a watch of an API.
    private func withWatch(
      _ options: [String] = [], environment: [String: String] = [:],
      _ body: (API, Folder, RunningTool) async throws -> Void
    ) async throws {
      let api = API()
      try await LoopbackServer.with({ _, send in api.respond(send) }) { server in
        try await withFolder { folder in
          try Self.describe(server, in: folder)
          let running = try RunningTool(
            executable: Self.tool.executable,
            ["--api", "api.json", "--store", "m.sqlite", "--watch", "--poll-max", "1"] + options,
            in: folder.url, environment: environment)
          try await body(api, folder, running)
        }
      }
    }

    @Test func logsWhatIsNewWithItsTimeAndWhenTheServerIsBack() async throws {
      try await withWatch { api, _, running in
        await running.waitFor("Watching: 1 inserted.")
        api.list(["a", "b"])
        await running.waitForErrors { $0.matches(of: #/Watching: 1 inserted\./#).count == 2 }
        api.fail()
        await running.waitFor("type.failed")
        api.list(["a", "b"])
        await running.waitFor("The server is back, after ")
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(
          lines.allSatisfy { $0.contains(#/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /#) }, "\(outcome.errors)"
        )
        // A poll without news has no line, nor has a failure that the last poll has told.
        #expect(lines.count { $0.contains("Watching") } == 2, "\(outcome.errors)")
        #expect(lines.count { $0.contains("type.failed") } == 1, "\(outcome.errors)")
        #expect(lines.last?.hasSuffix("stopped by=SIGTERM") == true)
        #expect(outcome.output.hasPrefix("Stopped after "))
      }
    }

    /// The token ends while the tool watches, and another program writes its successor some time later.
    @Test func outlivesARefusalUntilTheFileHasAnotherToken() async throws {
      let body = #"[{"id":"a","at":"2020-01-01T00:00:00Z"}]"#
      let valid = Mutex("t1")
      let refusals = Mutex(0)
      let answer: LoopbackServer.Answer = { head, send in
        guard head.contains("Bearer \(valid.withLock { $0 })\r\n") else {
          refusals.withLock { $0 += 1 }
          _ = send(Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".utf8))
          return
        }
        _ = send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
      }
      try await LoopbackServer.with(answer) { server in
        try await withFolder { folder in
          try folder.write("token", ["t1"])
          try folder.write(
            "api.json",
            [
              #"{"base":"\#(server.origin)","auth":{"bearer":"file:\#(folder.path("token"))"},"#
                + #""types":{"games":{"path":"games","version":"/at"}}}"#
            ])
          let running = try RunningTool(
            executable: Self.tool.executable,
            ["--api", "api.json", "--store", "m.sqlite", "--watch", "--poll-max", "1"], in: folder.url)
          await running.waitFor("Watching: 1 inserted.")
          valid.withLock { $0 = "t2" }
          await running.waitFor("the next poll is in")
          #expect(running.isRunning && refusals.withLock { $0 } > 0)
          try folder.write("token", ["t2"])
          await running.waitFor("The server is back, after ")
          running.send(SIGTERM)
          let outcome = await running.outcome()
          #expect(outcome.status == 0, "\(outcome.errors)")
          #expect(!outcome.errors.contains("t1") && !outcome.errors.contains("t2"), "\(outcome.errors)")
        }
      }
    }

    @Test func logsOneObjectToALine() async throws {
      try await withWatch(["--json-log", "--json"]) { _, _, running in
        await running.waitForLines { $0.event == "sync.finished" }
        running.send(SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 130)
        let lines = outcome.errors.daemonLines
        #expect(lines.count == outcome.errors.split(separator: "\n").count, "\(outcome.errors)")
        #expect(lines.first?.event == "sync.finished" && lines.first?["inserted"] == "1")
        #expect(lines.map(\.event).suffix(2) == ["stopping", "stopped"])
        let count = try outcome.count("inserted")
        #expect(count == 1)
      }
    }

    @Test func saysWhenItPollsAgain() async throws {
      try await withFolder { folder in
        let running = try Self.tool.start([
          // Port 1 of this machine has no server.
          "--server", "http://127.0.0.1:1/v1", "--bucket", "b", "--collection", "items", "--watch", "--store",
          folder.path("m.sqlite"), "--json-log",
        ])
        await running.waitForLines { $0.event == "sync.finished" && $0["outcome"] == "unavailable" }
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0)
        let line = try #require(outcome.errors.daemonLines.first { $0.event == "sync.finished" })
        #expect(line["next"] > line["at"])
      }
    }

    @Test func writesItsMetricsForATextfileCollector() async throws {
      try await withWatch(["--metrics-file", "m.prom"]) { _, folder, running in
        await running.waitFor("Watching: 1 inserted.")
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let text = try String(contentsOfFile: folder.path("m.prom"), encoding: .utf8)
        #expect(text.contains(#"canonicalsync_changes_total{type="games",outcome="inserted"} 1"#), "\(text)")
        #expect(text.contains(#"canonicalsync_store_records{type="games"} 1"#))
      }
    }

    @Test func tellsItsServiceManagerWhatItDoes() async throws {
      try await withFolder { folder in
        let manager = try NotifySocket(path: folder.path("notify"))
        try await withWatch(environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"]) {
          _, _, running in
          let first = await manager.messages(through: "STATUS=Up to date since 20")
          #expect(first.contains("READY=1"), "\(first)")
          #expect(await manager.messages(through: "WATCHDOG=1").last == "WATCHDOG=1")
          running.send(SIGTERM)
          #expect(await manager.messages(through: "STOPPING=1").last == "STOPPING=1")
          #expect(await running.outcome().status == 0)
        }
      }
    }

    @Test func endsAtATimeZoneThatIsNone() async throws {
      try await withWatch(["--time-zone", "Europe/Atlantis", "--json"]) { _, _, running in
        let outcome = await running.outcome()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Europe/Atlantis"))
        let error = try outcome.json["error"] as? String
        #expect(error == "invalidConfiguration")
      }
    }

    @Test func aSingleRunWritesMetricsAndHidesWhatIsOld() async throws {
      let api = API()
      try await LoopbackServer.with({ _, send in api.respond(send) }) { server in
        try await withFolder { folder in
          try Self.describe(server, in: folder)
          let outcome = try await Self.tool.start(
            [
              "--api", "api.json", "--store", "m.sqlite", "--metrics-file", "m.prom", "--hide-after-days",
              "30",
            ], in: folder.url
          ).outcome()
          #expect(outcome.status == 0, "\(outcome.errors)")
          #expect(outcome.errors.contains("cleaned-up outcome=completed hidden=1"))
          let text = try String(contentsOfFile: folder.path("m.prom"), encoding: .utf8)
          #expect(text.contains(#"canonicalsync_store_records{type="games"} 0"#), "\(text)")
        }
      }
    }
  }
#endif
