#if SQLite
  import Foundation
  import Testing

  @Suite("simulate", .timeLimit(.minutes(10)))
  struct SimulateTests {
    private let tool = Tool(name: "simulate")

    @Test func triesWorldsWithSQLiteInThem() async throws {
      let worlds = 5
      let outcome = try await tool.run("--seeds", String(worlds), "--store", "sqlite", "--json")
      #expect(outcome.status == 0, "\(outcome.output)")
      #expect(try outcome.json["worlds"] as? Int == worlds)
      #expect(try outcome.json["failures"] as? Int == 0)
    }

    @Test func printsItsCountersOnRequest() async throws {
      let short = try await tool.run("--seeds", "2")
      #expect(short.status == 0 && short.output.contains("--counters prints how often"), "\(short.output)")
      #expect(!short.output.contains("what was seen"))
      let long = try await tool.run("--seeds", "2", "--counters")
      #expect(long.output.contains("what was seen") && long.lines.count > 50)
    }

    @Test func failsACallAtATimeInASweep() async throws {
      let outcome = try await tool.run("--seeds", "2", "--sweep", "--json")
      #expect(outcome.status == 0, "\(outcome.output)")
      #expect(try outcome.json["worlds"] as? Int ?? 0 > 50)
    }

    @Test func tellsTheStoryOfOneWorld() async throws {
      let outcome = try await tool.run("--seed", "7")
      #expect(outcome.status == 0)
      #expect(outcome.lines.contains { $0.hasSuffix("all faults end") })
      #expect(outcome.lines.last == "every promise was kept")
    }

    @Test func endsTheStoryOfOneWorldWithAnObject() async throws {
      let outcome = try await tool.run("--seed", "7", "--json")
      #expect(outcome.status == 0)
      #expect(try outcome.json["steps"] as? Int ?? 0 > 10)
      #expect(try (outcome.json["violations"] as? [Any])?.isEmpty == true)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func endsWithTheCountsSoFarWhenAskedToStop(_ signal: Int32) async throws {
      let running = try tool.start(["--seeds", "100000000", "--json"])
      // Progress counts completed worlds.
      await running.waitForErrors {
        $0.contains("worlds")
      } then: {
        running.send(signal)
      }
      let outcome = await running.outcome()
      #expect(outcome.status == 130, "\(outcome.output)\(outcome.errors)")
      #expect(!outcome.wasKilled)
      #expect(try outcome.json["worlds"] as? Int ?? 0 > 0)
      #expect(try outcome.json["wasStopped"] as? Bool == true)
      #expect(outcome.output.contains("stopped before the end"))
    }

    @Test func meansTheSameWorldsEachTime() async throws {
      var hashes: Set<String> = []
      for _ in 1...2 {
        let outcome = try await tool.run("--first-seed", "107000", "--seeds", "3", "--json")
        #expect(outcome.status == 0, "\(outcome.output)")
        hashes.insert(try outcome.json["hash"] as? String ?? "none")
      }
      #expect(hashes.count == 1 && !hashes.contains("none"))
    }

    @Test func tellsTheStoryOfAWorldThatWasKept() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).world")
      defer { try? FileManager.default.removeItem(at: file) }
      try "canonicalsync-world 1\n0 1 2\n".write(to: file, atomically: true, encoding: .utf8)
      let outcome = try await tool.run("--replay", file.path)
      #expect(outcome.status == 0)
      #expect(outcome.lines.last == "every promise was kept")
    }

    @Test func noticesAPortsFlawInAnyBuild() async throws {
      let outcome = try await tool.run("--mutants", "--only", "sinkSendsTwice", "--seeds", "200", "--json")
      #expect(outcome.status == 0, "\(outcome.output)")
      #expect(try outcome.json["killed"] as? Int == 1)
    }

    @Test func letsHappenOnlyWhatIsNamed() async throws {
      let outcome = try await tool.run("--seeds", "20", "--hazards", "malformed,circles", "--json")
      let sights = try outcome.json["sights"] as? [String: Int]
      #expect(sights?["callFailed"] == 0)
      #expect(sights?["convergenceChecked"] ?? 0 > 0)
    }

    static let mistakes: [([String], Int32)] = [
      (["--store", "paper"], 2), (["--replay", "/nowhere.world"], 1), (["--seeds", "0"], 2),
      (["--mutants", "--only", "nothing"], 1), (["--seeds", "1", "--demanding"], 1),
      (["--hazards", "rain"], 2), (["--seed", "1", "--seeds", "2"], 2),
      (["--seed", "1", "--first-seed", "2"], 2), (["--replay", "a.world", "--sweep"], 2),
      (["--seed", "1", "--replay", "a.world"], 2), (["--only", "copyUnchecked"], 2),
      (["--sweep", "--demanding"], 2), (["--sweep", "--mutants"], 2),
      (["--mutants", "--picture", "a.html"], 2), (["--seed", "1", "--picture", "/nowhere/a.html"], 1),
    ]

    @Test(arguments: mistakes)
    func refusesWhatMakesNoSense(_ arguments: [String], _ status: Int32) async throws {
      let running = try tool.start(arguments)
      let outcome = await running.outcome()
      #expect(outcome.status == status)
      #expect(outcome.errors.contains("simulate: "))
    }

    @Test func tellsOfABrokenWorldAsAnObjectToo() async throws {
      try await withFolder { folder in
        // A world without a store breaks a promise.
        let running = try RunningTool(
          executable: tool.executable,
          ["--store", "sqlite", "--seeds", "1", "--json", "--save", folder.path("a.world")], in: nil,
          environment: ["TMPDIR": "/dev/null/nowhere"])
        let outcome = await running.outcome()
        #expect(outcome.status == 1)
        let json = try outcome.json
        #expect(json["failures"] as? Int == 1)
        #expect(json["kept"] as? String == folder.path("a.world"))
        let broken = (json["broken"] as? [[String: Any]])?.first
        #expect(broken?["seed"] as? Int == 0)
        let violation = (broken?["violations"] as? [[String: Any]])?.first
        #expect(violation?["promise"] as? String == "containment")
      }
    }

    @Test func drawsAWorldWithOrWithoutABrokenPromise() async throws {
      try await withFolder { folder in
        let file = folder.path("world.html")
        let well = try await tool.run("--seed", "7", "--picture", file)
        #expect(well.status == 0, "\(well.errors)")
        #expect(well.errors.contains("No promise was broken"))
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("no promise was broken</h1>"))
        // An earlier picture is replaced.
        let broken = try await tool.run(
          "--mutants", "--only", "pageWithoutItsLast", "--seeds", "20", "--picture", file)
        #expect(broken.status == 0, "\(broken.errors)")
        #expect(broken.errors.contains("At 0.000 s the remote got this copy of `games/g2`"))
        let page = try String(contentsOfFile: file, encoding: .utf8)
        #expect(page.contains("<h1>Broken: ") && !page.contains("pageWithoutItsLast"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["world.html"])
      }
    }

    @Test func drawsAKeptWorldAgainAndWarnsOfAnotherVersion() async throws {
      try await withFolder { folder in
        let world = folder.path("a.world")
        try "canonicalsync-world 1\nversion 0.1.0\n0 1 2\n".write(
          toFile: world, atomically: true, encoding: .utf8)
        let outcome = try await tool.run("--replay", world, "--picture", folder.path("a.html"))
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("a.world is of version 0.1.0, and this is "))
        #expect(FileManager.default.fileExists(atPath: folder.path("a.html")))
        try "canonicalsync-world 2\n0 1 2\n".write(toFile: world, atomically: true, encoding: .utf8)
        let running = try tool.start(["--replay", world, "--picture", folder.path("b.html")])
        let other = await running.outcome()
        #expect(other.status == 1)
        #expect(other.errors.contains("holds no world that this version can read"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("b.html")))
      }
    }

    @Test func drawsIntoNoFileThatIsNotAPicture() async throws {
      try await withFolder { folder in
        let file = folder.path("mine.txt")
        try "mine".write(toFile: file, atomically: true, encoding: .utf8)
        let running = try tool.start(["--seed", "1", "--picture", file])
        let outcome = await running.outcome()
        #expect(outcome.status == 1 && outcome.errors.contains("is no picture; name another file"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
      }
    }

    @Test func saysThatThereIsNothingToDraw() async throws {
      try await withFolder { folder in
        let outcome = try await tool.run("--seeds", "2", "--picture", folder.path("a.html"))
        #expect(outcome.status == 0 && outcome.errors.contains("nothing is drawn"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("a.html")))
      }
    }

    @Test func tellsWhatFailedAsAnObjectToo() async throws {
      let outcome = try await tool.run("--replay", "/nowhere.world", "--json")
      #expect(outcome.status == 1)
      #expect(try outcome.json["error"] as? String == "invalidConfiguration")
      #expect(try (outcome.json["message"] as? String)?.contains("/nowhere.world") == true)
    }
  }
#endif
