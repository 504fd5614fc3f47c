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

    @Test func tellsTheStoryOfAWorldThatWasKept() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).world")
      defer { try? FileManager.default.removeItem(at: file) }
      try "canonicalsync-world 1\n0 1 2\n".write(to: file, atomically: true, encoding: .utf8)
      let outcome = try await tool.run("--replay", file.path)
      #expect(outcome.status == 0)
      #expect(outcome.lines.last == "every promise was kept")
    }

    static let mistakes: [([String], Int32)] = [
      (["--store", "paper"], 2), (["--replay", "/nowhere.world"], 1), (["--seeds", "0"], 2),
      (["--mutants"], 1), (["--seeds", "1", "--demanding"], 1),
    ]

    @Test(arguments: mistakes)
    func refusesWhatMakesNoSense(_ arguments: [String], _ status: Int32) async throws {
      let running = try tool.start(arguments)
      let outcome = await running.outcome()
      #expect(outcome.status == status)
      #expect(outcome.errors.contains("simulate: "))
    }
  }
#endif
