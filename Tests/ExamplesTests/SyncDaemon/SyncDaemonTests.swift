#if SQLite
  import CanonicalSync
  import Foundation
  import Testing

  /// The daemon in a separate process, as a service manager runs it, on real files.
  @Suite("sync-daemon", .serialized, .timeLimit(.minutes(10)))
  struct SyncDaemonTests {
    let daemon = Tool(name: "sync-daemon")
    let inspect = Tool(name: "sync-inspect")

    @Test func syncsOnceWhereThatIsAskedFor() async throws {
      try await withFolder { folder in
        let options = ["--store", folder.path("s.sqlite"), "--once", "--json-log"]
        let first = try await daemon.start(options).outcome()
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.isEmpty)
        let lines = first.errors.daemonLines
        #expect(lines.count == first.errors.split(separator: "\n").count)
        let events = lines.map(\.event)
        // On a busy machine a sync may take so long that it logs its progress.
        let progress = events.filter { $0 == "progress" }
        #expect(
          events == ["bundle.loaded", "trigger", "sync.started"] + progress
            + ["sync.finished", "stopping", "stopped"])
        #expect(lines.map(\.time) == lines.map(\.time).sorted())
        let second = try await daemon.start(options).outcome()
        #expect(second.errors.daemonLines.first { $0.event == "sync.finished" }?["fetched"] == "")
      }
    }

    @Test func logsForPeopleUnlessToldOtherwise() async throws {
      try await withFolder { folder in
        let outcome = try await daemon.run("--store", folder.path("s.sqlite"), "--once")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.contains { $0.contains("Z trigger is=request decision=planned start=20") })
        #expect(lines.contains { $0.contains("Z sync.finished outcome=completed seconds=") })
      }
    }

    @Test func failsWhenItsOnlySyncDoes() async throws {
      try await withFolder { folder in
        let outcome = try await daemon.run(
          "--store", folder.path("s.sqlite"), "--data", folder.path("nowhere"), "--once", "--json-log")
        #expect(outcome.status == 1, "\(outcome.errors)")
      }
    }

    @Test(arguments: [
      ["--once"], ["--store", "s", "--interval", "0"], ["--store", "s", "--probe", "nowhere"],
      ["--store", "s", "--probe", "h:1", "--watch-network"], ["--store", "s", "--no-such-option"],
    ])
    func saysWhatIsWrongWithItsOptions(_ options: [String]) async throws {
      try await withFolder { folder in
        let outcome = try await daemon.start(options, in: folder.url).outcome()
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasPrefix("sync-daemon: "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
      }
    }

    @Test func doesNotKnowInventedTimeZones() async throws {
      try await withFolder { folder in
        let outcome = try await daemon.run(
          "--store", folder.path("s.sqlite"), "--time-zone", "Europe/Atlantis")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Europe/Atlantis"))
      }
    }

    @Test func refusesATimeZoneThatItWouldNotEvenGoBy() async throws {
      try await withFolder { folder in
        let outcome = try await daemon.run(
          "--store", folder.path("s.sqlite"), "--once", "--time-zone", "Europe/Atlantis")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Europe/Atlantis"))
      }
    }

    @Test func hidesWhatIsOldAndShowsWhatTheRemoteChangesAgain() async throws {
      try await withFolder { folder in
        var games = try folder.writeSchedule(games: 3)
        let now = Int(Date.now.timeIntervalSince1970) * 1000
        let fresh = #""updated_at":\#(now)"#
        games[1] = games[1].replacingOccurrences(of: #""updated_at":1"#, with: fresh)
        try folder.write("data/games.ndjson", games)
        let options = [
          "--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--once", "--json-log",
          "--hide-after-days", "30",
        ]
        let first = try await daemon.start(options).outcome()
        #expect(first.status == 0, "\(first.errors)")
        let tidied = first.errors.daemonLines.first { $0.event == "cleaned-up" }
        #expect(tidied?["outcome"] == "completed")
        // Two games, and eight teams without the third game. The league and the sport are still
        // referenced.
        #expect(tidied?.count("hidden") == 10)
        #expect(tidied?.count("spared") == 4)

        games[0] = games[0].replacingOccurrences(of: #""updated_at":1"#, with: fresh)
        try folder.write("data/games.ndjson", games)
        let second = try await daemon.start(options).outcome()
        #expect(second.errors.daemonLines.first { $0.event == "cleaned-up" }?.count("hidden") == 0)
        let export = try await inspect.run("export", "--type", "games", "--store", folder.path("s.sqlite"))
        #expect(export.lines == Array(games[..<2]))
        // The game's teams return with it.
        let teams = try await inspect.run("export", "--type", "teams", "--store", folder.path("s.sqlite"))
        #expect(teams.lines.count == 4)
      }
    }

    @Test func keepsInStepUntilItIsTerminated() async throws {
      try await withFolder { folder in
        var games = try folder.writeSchedule(games: 50)
        let running = try daemon.start([
          "--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--interval", "1", "--json-log",
        ])
        let start = await running.waitForLines { $0.event == "sync.finished" }
        games.append(Folder.game(50))
        try folder.write("data/games.ndjson", games)
        await running.waitForLines(after: start) { $0.event == "sync.finished" && $0["inserted"] == "1" }
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.errors.daemonLines
        #expect(lines.contains { $0.starts(for: "background-refresh") })
        #expect(lines.contains { $0.event == "background.asked" && $0["for"] == "processing" })
        #expect(lines.last?["by"] == "SIGTERM")
        let export = try await inspect.run("export", "--type", "games", "--store", folder.path("s.sqlite"))
        #expect(export.lines == games)
      }
    }

    @Test func stopsWithinAPageWhenItIsTerminatedAndGoesOnFromThere() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 100_000)
        let options = [
          "--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json-log", "--log-pages",
        ]
        let running = try daemon.start(options + ["--latency-ms", "500"])
        await running.waitForLines(3) {
          $0.event == "page" && $0["type"] == "games"
        } then: {
          running.send(SIGTERM)
        }
        let stopped = await running.outcome()
        #expect(stopped.status == 0, "\(stopped.errors)")
        let first = try Self.checkStop(stopped.errors.daemonLines)

        let again = try daemon.start(options)
        await again.waitForLines { $0.event == "sync.finished" }
        again.send(SIGTERM)
        let rest = await again.outcome()
        #expect(rest.status == 0, "\(rest.errors)")
        let second = rest.errors.daemonLines.first { $0.event == "sync.finished" }
        #expect(second?["outcome"] == "completed")
        // Every record is inserted exactly once.
        #expect(first + (second?.count("inserted") ?? 0) == 100_012)
        #expect(second?.count("inserted") == second?.count("fetched"))
      }
    }

    /// The number of records that a stopped sync inserted.
    private static func checkStop(_ lines: [DaemonLine]) throws -> Int {
      let stopping = try #require(lines.firstIndex { $0.event == "stopping" })
      let pagesAfter = lines[stopping...].count { $0.event == "page" }
      // The pages fetched during a commit are committed: those ahead, and the one in progress.
      #expect(pagesAfter <= SyncOptions().pagesAhead + 1)
      let end = try #require(lines.first { $0.event == "sync.finished" })
      #expect(end["outcome"] == "stopped")
      #expect(end.count("fetched") < 50_000)
      #expect(end.count("inserted") == end.count("fetched"))
      return end.count("inserted")
    }

    @Test func endsAsInterruptedAtCtrlC() async throws {
      try await withFolder { folder in
        let running = try daemon.start(["--store", folder.path("s.sqlite"), "--json-log"])
        await running.waitForLines { $0.event == "sync.finished" }
        running.send(SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 130)
        #expect(outcome.errors.daemonLines.last?["by"] == "SIGINT")
      }
    }

    @Test func saysWhenItTriesAgainAfterASyncThatCouldNotBe() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 1)
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data")]
        // It holds the store's lease while it waits for its first page, for ten minutes.
        let holder = try Tool(name: "schedule-sync").start(options + ["--latency-ms", "600000", "--log"])
        await holder.waitForErrors { $0.contains("sync.started") }
        let running = try daemon.start(options + ["--json-log"])
        await running.waitForLines { $0.event == "trigger" && $0["is"] == "retry" }
        running.send(SIGTERM)
        holder.send(SIGINT)
        _ = await holder.outcome()
        let lines = await running.outcome().errors.daemonLines
        let end = try #require(lines.firstIndex { $0.event == "sync.finished" })
        #expect(lines[end]["outcome"] == "unavailable")
        let next = lines[end + 1]
        #expect(next.event == "trigger" && next["is"] == "retry" && next["decision"] == "planned")
        #expect(next["waits-for"] == "pause-after-failures" && next.count("failures") == 1)
        // Both timestamps have the same format, so the later one sorts after.
        #expect(next["start"] > lines[end]["at"])
      }
    }

    @Test func leavesARemoteAloneThatCannotBeThere() async throws {
      try await withFolder { folder in
        // Port 1 of this machine has no server.
        let running = try daemon.start([
          "--store", folder.path("s.sqlite"), "--probe", "127.0.0.1:1", "--json-log", "--interval", "1",
        ])
        await running.waitForLines { $0.event == "trigger" && $0["because"] == "offline" }
        await running.waitForLines { $0.event == "network" && $0["is"] == "offline" }
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0)
      }
    }
  }
#endif
