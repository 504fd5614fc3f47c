#if SQLite
  import Foundation
  import Testing

  /// The main tool in a separate process, on real files.
  @Suite("schedule-sync", .serialized, .timeLimit(.minutes(10)))
  struct ScheduleSyncTests {
    let tool = Tool(name: "schedule-sync")
    let inspect = Tool(name: "sync-inspect")

    @Test func syncsTheBuiltInScheduleAndThenOnlyWhatChanged() async throws {
      try await withFolder { folder in
        let store = folder.path("s.sqlite")
        let first = try await tool.run("--store", store, "--json")
        #expect(first.status == 0, "\(first.errors)")
        #expect(try first.count("live", of: "games") > 5000)
        #expect(try first.count("inserted", of: "games") > 5000)
        #expect(first.output.contains("at home"))
        let second = try await tool.run("--store", store, "--json")
        #expect(second.status == 0)
        #expect(try second.count("fetched") == 0)
        #expect(try second.count("pages") <= 9)
        #expect(try second.count("requests") <= 9)
      }
    }

    @Test func suggestsWhatThisStoreHas() async throws {
      try await withFolder { folder in
        let games = try folder.writeSchedule(games: 3)
        let options = ["--store", folder.path("my store.sqlite"), "--data", folder.path("data")]
        let well = try await tool.start(options).outcome()
        #expect(well.output.contains("sync-inspect status --store '\(folder.path("my store.sqlite"))'\n"))
        for command in ["quarantine", "waiting", "outbox"] {
          #expect(!well.output.contains("sync-inspect \(command)"))
        }
        try folder.write("data/games.ndjson", games + ["{"])
        _ = try await inspect.run(
          "edit", "--store", folder.path("my store.sqlite"), "--type", "sports", "--id", "new", "--set", "n=1"
        )
        let troubled = try await tool.start(options).outcome()
        #expect(troubled.output.contains("sync-inspect quarantine --store '"), "\(troubled.output)")
        #expect(troubled.output.contains("sync-inspect outbox --store '"))
      }
    }

    @Test func keepsThreePagesWhenCancelledAfterThree() async throws {
      try await withFolder { folder in
        let store = folder.path("s.sqlite")
        try folder.writeSchedule(games: 2000)
        let data = folder.path("data")
        let options = ["--store", store, "--data", data, "--page-size", "100", "--json"]
        let stopped = try await tool.start(options + ["--cancel-after-pages", "3"]).outcome()
        #expect(stopped.status == 0)
        #expect(try stopped.json["wasCancelled"] as? Bool == true)
        #expect(try stopped.count("pages") == 3)
        let rest = try await tool.start(options).outcome()
        #expect(rest.status == 0)
        #expect(try rest.count("inserted") + stopped.count("inserted") == 2012)
        #expect(try rest.count("fetched") + stopped.count("fetched") == 2012)
      }
    }

    @Test func comesToAnEndThreePagesAtATime() async throws {
      try await withFolder { folder in
        let options = ["--store", folder.path("s.sqlite"), "--page-size", "400", "--json"]
        var runs = 0
        var inserted = 0
        var wasCancelled = true
        while wasCancelled, runs < 20 {
          let outcome = try await tool.start(options + ["--cancel-after-pages", "3"]).outcome()
          #expect(outcome.status == 0)
          wasCancelled = try outcome.json["wasCancelled"] as? Bool == true
          if wasCancelled { #expect(try outcome.count("pages") == 3) }
          inserted += try outcome.count("inserted")
          runs += 1
        }
        #expect(!wasCancelled)
        #expect(inserted > 5000)
      }
    }

    @Test func findsTheStoreByAnyOfItsPaths() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 2000)
        let data = ["--data", folder.path("data"), "--json"]
        try FileManager.default.createSymbolicLink(
          atPath: folder.path("link.sqlite"), withDestinationPath: folder.path("s.sqlite"))
        _ = try await tool.start(["--store", folder.path("s.sqlite"), "--cancel-after-pages", "1"] + data)
          .outcome()
        let running = try tool.start(
          ["--store", folder.path("link.sqlite"), "--page-size", "50", "--latency-ms", "1000", "--log"] + data
        )
        await running.waitForErrors { $0.contains("sync.page.committed") }
        let second = try await tool.start(["--store", folder.path("s.sqlite")] + data).outcome()
        #expect(second.errors.contains("syncAlreadyInProgress"), "\(second.errors)")
        running.send(SIGKILL)
        _ = await running.outcome()
        try FileManager.default.linkItem(atPath: folder.path("s.sqlite"), toPath: folder.path("hard.sqlite"))
        let hard = try await tool.start(["--store", folder.path("hard.sqlite")] + data).outcome()
        #expect(hard.status == 1)
        #expect(hard.errors.contains("hard links"), "\(hard.errors)")
      }
    }

    @Test func noticesThatAFileIsGone() async throws {
      try await withFolder { folder in
        try folder.write("data/things.ndjson", [#"{"id":"a"}"#])
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json"]
        #expect(try await tool.start(options).outcome().count("inserted", of: "things") == 1)
        try FileManager.default.removeItem(atPath: folder.path("data/things.ndjson"))
        let outcome = try await tool.start(options).outcome()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("things.ndjson"), "\(outcome.errors)")
      }
    }

    @Test func appliesExactlyTheDifferenceOfALaterState() async throws {
      try await withFolder { folder in
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json"]
        var lines = try folder.writeSchedule(games: 1000)
        _ = try await tool.start(options).outcome()
        lines.removeSubrange(100..<130)
        for index in 0..<40 { lines[index] = lines[index].replacingOccurrences(of: "2026", with: "2027") }
        for number in 5000..<5007 { lines.append(Folder.game(number)) }
        try folder.write("data/games.ndjson", lines)
        let second = try await tool.start(options).outcome()
        #expect(second.status == 0, "\(second.errors)")
        #expect(try second.count("inserted") == 7)
        #expect(try second.count("updated") == 40)
        #expect(try second.count("deleted") == 30)
        #expect(try second.count("swept") == 30)
        #expect(try second.count("unchanged") == 930)
        let export = try await inspect.run("export", "--type", "games", "--store", folder.path("s.sqlite"))
        #expect(export.output.split(separator: "\n").map(String.init) == lines.sorted())
      }
    }

    @Test func stopsAtCtrlCAndGoesOnFromThere() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 3000)
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json"]
        let running = try tool.start(options + ["--page-size", "50", "--latency-ms", "100", "--log"])
        await running.waitForErrors {
          $0.contains("sync.page.committed type=games")
        } then: {
          running.send(SIGINT)
        }
        let stopped = await running.outcome()
        #expect(stopped.status == 130)
        #expect(stopped.output.contains("same command again to resume"))
        #expect(try stopped.json["wasCancelled"] as? Bool == true)
        let rest = try await tool.start(options).outcome()
        #expect(try rest.count("inserted") + stopped.count("inserted") == 3012)
      }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func takesASignalWhileItStartsForAWishToStop(_ signal: Int32) async throws {
      try await withFolder { folder in
        try folder.write("data/empty.txt", [])
        let running = try tool.start([
          "--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--latency-ms", "600000",
          "--json",
        ])
        // This line is printed before the store is opened. Without the signal, the first page takes
        // ten minutes.
        await running.waitForErrors {
          $0.contains("holds no <type>.ndjson file")
        } then: {
          running.send(signal)
        }
        let stopped = await running.outcome()
        #expect(!stopped.wasKilled)
        #expect(stopped.status == 130)
        #expect(stopped.output.contains("same command again to resume"))
        #expect(try stopped.json["wasCancelled"] as? Bool == true)
      }
    }

    @Test func tellsHowManyEditsItLeavesWhereTheyAre() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 1)
        let store = folder.path("s.sqlite")
        let options = ["--store", store, "--data", folder.path("data"), "--json"]
        let first = try await tool.start(options).outcome()
        #expect(try first.count("waitingEdits") == 0)
        #expect(!first.output.contains("outbox"))
        _ = try await inspect.run("edit", "--type", "teams", "--id", "t1", "--set", "n=1", "--store", store)
        let second = try await tool.start(options).outcome()
        #expect(try second.count("waitingEdits") == 1)
        #expect(second.output.contains("1 edit waits in the outbox"), "\(second.output)")
        _ = try await inspect.run("edit", "--type", "teams", "--id", "t2", "--delete", "--store", store)
        let third = try await tool.start(options).outcome()
        #expect(try third.count("waitingEdits") == 2)
        #expect(third.output.contains("2 edits wait in the outbox"), "\(third.output)")
      }
    }

    @Test func letsOneProcessSyncAtATime() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 2000)
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json"]
        // It runs until the other sync has been refused, even on a slow machine.
        let running = try tool.start(options + ["--page-size", "50", "--latency-ms", "1000", "--log"])
        await running.waitForErrors { $0.contains("sync.page.committed") }
        let second = try await tool.start(options).outcome()
        #expect(second.status == 1)
        #expect(second.errors.contains("syncAlreadyInProgress"))
        #expect(running.isRunning)
        running.send(SIGKILL)
        _ = await running.outcome()
        // The holder died, so its lease is free before its end.
        let third = try await tool.start(options).outcome()
        #expect(third.status == 0, "\(third.errors)")
      }
    }

    @Test func refusesTheCommitsOfAHolderThatSleptThroughItsLease() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 2000)
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json"]
        let sleeper = try tool.start(
          options + ["--page-size", "20", "--latency-ms", "300", "--lease-seconds", "1", "--log"])
        await sleeper.waitForErrors {
          $0.contains("sync.page.committed")
        } then: {
          sleeper.send(SIGSTOP)
        }
        var taken = try await tool.start(options).outcome()
        while taken.status != 0 {
          if taken.errors.contains("storeBusy") {
            // The process stopped inside a transaction that renews its lease, and keeps the file's
            // lock.
            let pages = sleeper.errorsSoFar.committedPages
            sleeper.send(SIGCONT)
            await sleeper.waitForErrors {
              $0.committedPages > pages
            } then: {
              sleeper.send(SIGSTOP)
            }
          } else {
            // The lease expires by the wall clock. Only another attempt shows when.
            guard taken.errors.contains("syncAlreadyInProgress") else { break }
          }
          taken = try await tool.start(options).outcome()
        }
        #expect(taken.status == 0, "\(taken.errors)")
        sleeper.send(SIGCONT)
        let late = await sleeper.outcome()
        #expect(late.status == 1)
        #expect(late.errors.contains("leaseLost"))
        let after = try await tool.start(options).outcome()
        #expect(try after.count("fetched") == 0)
      }
    }
  }

  extension Folder {
    /// A small schedule: a sport, a league, ten teams, and games between them.
    @discardableResult
    func writeSchedule(games: Int) throws -> [String] {
      try write("data/sports.ndjson", [#"{"id":"s","name":"Sport","updated_at":1}"#])
      try write("data/leagues.ndjson", [#"{"id":"l","sport_id":"s","updated_at":1}"#])
      try write(
        "data/teams.ndjson",
        (0..<10).map { #"{"id":"t\#($0)","league_id":"l","name":"Team \#($0)","updated_at":1}"# })
      let lines = (0..<games).map(Self.game)
      try write("data/games.ndjson", lines)
      return lines
    }

    static func game(_ number: Int) -> String {
      let key = String(format: "g%06d", number)
      return
        #"{"id":"\#(key)","league_id":"l","home_team_id":"t\#(number % 10)","away_team_id":"t\#((number + 3) % 10)","date":"2026-04-01","extra":[1.50,{"x":"é"}],"updated_at":1}"#
    }
  }
#endif
