#if SQLite
  import CanonicalSync
  import Foundation
  import Testing

  /// What operators see of the daemon: its metrics file, its service manager, and its log.
  @Suite("sync-daemon, observed", .serialized, .timeLimit(.minutes(10)))
  struct DaemonObservingTests {
    let daemon = Tool(name: "sync-daemon")

    @Test func writesItsMetricsForATextfileCollector() async throws {
      try await withFolder { folder in
        let file = folder.path("sync.prom")
        let outcome = try await daemon.run(
          "--store", folder.path("s.sqlite"), "--once", "--metrics-file", file)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.contains(#"canonicalsync_syncs_total{outcome="finished"} 1"#))
        #expect(lines.contains { $0.hasPrefix(#"canonicalsync_store_records{type="games"} "#) })
        #expect(lines.contains { $0.hasPrefix(#"canonicalsync_store_age_seconds{type="games"} "#) })
        #expect(lines.contains(#"canonicalsync_store_withheld{type="games",kind="quarantined"} 0"#))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(files.filter { $0.hasPrefix("sync.prom") } == ["sync.prom"], "no draft is left")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o444 } == 0o444)
      }
    }

    @Test(.enabled(if: promtool != nil, "Prometheus' promtool is missing here"))
    func writesMetricsThatPrometheusAccepts() async throws {
      try await withFolder { folder in
        let file = folder.path("sync.prom")
        _ = try await daemon.run("--store", folder.path("s.sqlite"), "--once", "--metrics-file", file)
        let check = try await RunningTool(
          executable: URL(filePath: "/bin/sh"), ["-c", #""$PROMTOOL" check metrics <"$FILE""#], in: nil,
          environment: ["PROMTOOL": try #require(Self.promtool), "FILE": file]
        ).outcome()
        #expect(check.status == 0 && check.output.isEmpty && check.errors.isEmpty, "\(check)")
      }
    }

    @Test(.enabled(if: promtool != nil, "Prometheus' promtool is missing here"))
    func hasAlertsThatPrometheusAccepts() async throws {
      try await withFolder { folder in
        let guide = try String(
          contentsOf: URL(filePath: #filePath).appending(path: "../../../../Docs/Observing.md").standardized,
          encoding: .utf8)
        let blocks = guide.matches(of: #/```yaml\n((?:.|\n)*?)```/#)
        try folder.write("alerts.yml", [String(try #require(blocks.first).1)])
        let check = try await RunningTool(
          executable: URL(filePath: try #require(Self.promtool)),
          ["check", "rules", folder.path("alerts.yml")], in: nil
        ).outcome()
        #expect(check.status == 0 && check.output.contains("7 rules found"), "\(check)")
      }
    }

    @Test func goesOnWithoutAMetricsFileThatCannotBeWritten() async throws {
      try await withFolder { folder in
        let outcome = try await daemon.run(
          "--store", folder.path("s.sqlite"), "--once", "--metrics-file", folder.path("no/such/folder.prom"),
          "--quiet")
        #expect(outcome.status == 0)
        // Once, although it was tried several times; with --quiet there is nothing else.
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(outcome.errors.contains("metrics.failed"))
        #expect(outcome.errors.contains(#"error="No such file or directory""#), "\(outcome.errors)")
      }
    }

    @Test func tellsItsServiceManagerWhatItDoes() async throws {
      try await withFolder { folder in
        let manager = try NotifySocket(path: folder.path("notify"))
        let running = try RunningTool(
          executable: daemon.executable, ["--store", folder.path("s.sqlite")], in: nil,
          environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"])
        let first = await manager.messages(through: "STATUS=Up to date since 20")
        #expect(first.contains("READY=1") && first.contains("STATUS=Syncing"), "\(first)")
        #expect(await manager.messages(through: "WATCHDOG=1").last == "WATCHDOG=1")
        running.send(SIGTERM)
        #expect(await manager.messages(through: "STOPPING=1").last == "STOPPING=1")
        #expect(await running.outcome().status == 0)
      }
    }

    @Test func startsWithoutAServiceManagerThatListens() async throws {
      try await withFolder { folder in
        let outcome = try await RunningTool(
          executable: daemon.executable, ["--store", folder.path("s.sqlite"), "--once"], in: nil,
          environment: ["NOTIFY_SOCKET": folder.path("nobody-listens"), "WATCHDOG_USEC": "1"]
        ).outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
      }
    }

    @Test func logsTheProgressOfALongPassAndOnlyWarningsWhenQuiet() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 4_000)
        let options = [
          "--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--once", "--json-log",
          "--latency-ms", "400",
        ]
        let outcome = try await daemon.start(options).outcome()
        let progress = outcome.errors.daemonLines.filter { $0.event == "progress" }
        #expect(!progress.isEmpty, "\(outcome.errors)")
        #expect(progress.allSatisfy { $0["type"] == "games" && $0.count("done") > 0 })
        #expect(progress.allSatisfy { $0["per-second"] != "" })
        let again = try await daemon.start(options + ["--quiet"]).outcome()
        #expect(again.status == 0 && again.errors == "")
        let failing = try await daemon.run(
          "--store", folder.path("t.sqlite"), "--data", folder.path("nowhere"), "--once", "--quiet")
        #expect(failing.status == 1 && failing.errors.contains("failed"), "\(failing.errors)")
      }
    }

    /// The path of Prometheus' tool, if it is installed.
    private static let promtool = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/promtool" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
#endif
