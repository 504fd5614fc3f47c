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

    @Test func tellsWhatFailedAsAnObjectToo() async throws {
      let outcome = try await tool.run("--replay", "/nowhere.world", "--json")
      #expect(outcome.status == 1)
      #expect(try outcome.json["error"] as? String == "invalidConfiguration")
      #expect(try (outcome.json["message"] as? String)?.contains("/nowhere.world") == true)
    }
  }
#endif
