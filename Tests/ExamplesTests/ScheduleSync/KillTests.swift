#if SQLite
  import Foundation
  import Testing

  /// Kills processes at random instants, and checks their store.
  @Suite("A killed sync", .serialized, .timeLimit(.minutes(20)))
  struct KillTests {
    let tool = Tool(name: "schedule-sync")
    let inspect = Tool(name: "sync-inspect")

    /// The number of killed runs: `CANONICALSYNC_KILLS`, or 200.
    static let kills = ProcessInfo.processInfo.environment["CANONICALSYNC_KILLS"].flatMap { Int($0) } ?? 200

    @Test func leavesAStoreThatTheNextOneGoesOnWith() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 4000)
        let data = folder.path("data")
        let calm = folder.path("calm.sqlite")
        let undisturbed = try await tool.run("--store", calm, "--data", data)
        #expect(undisturbed.status == 0, "\(undisturbed.errors)")
        let expected = try await export(calm)

        var random = SystemRandomNumberGenerator()
        var amidCommits = 0
        var store = ""
        var rounds = 0
        // Half of the signals must arrive during commits, even if a busy machine delays them.
        while rounds < Self.kills || amidCommits * 2 < Self.kills {
          rounds += 1
          // After a sync that ends undisturbed, a new store begins.
          if store.isEmpty { store = folder.path("killed-\(rounds).sqlite") }
          let running = try tool.start([
            "--store", store, "--data", data, "--page-size", "40", "--latency-ms", "4", "--log",
          ])
          let pages = Int.random(in: 0...12, using: &random)
          // Any instant of the next page, from its request to its commit.
          let pause = TimeInterval.random(in: 0...0.01, using: &random)
          await running.waitForErrors {
            $0.committedPages >= pages
          } then: {
            Thread.sleep(forTimeInterval: pause)
            running.send(SIGKILL)
          }
          let outcome = await running.outcome()
          #expect(outcome.wasKilled || outcome.status == 0, "\(outcome.errors)")
          if outcome.wasKilled, outcome.committedPages > 0 { amidCommits += 1 }
          if !outcome.wasKilled {
            #expect(try await export(store) == expected)
            store = ""
          }
        }
        if store.isEmpty { store = folder.path("last.sqlite") }
        let last = try await tool.run("--store", store, "--data", data)
        #expect(last.status == 0, "\(last.errors)")
        #expect(try await export(store) == expected)
      }
    }

    private func export(_ store: String) async throws -> String {
      let games = try await inspect.run("export", "--type", "games", "--store", store)
      #expect(games.status == 0, "\(games.errors)")
      return games.output
    }
  }

  extension Tool.Outcome {
    var committedPages: Int { errors.committedPages }
  }

  extension String {
    /// The number of committed pages in a tool's log.
    var committedPages: Int { components(separatedBy: "sync.page.committed").count - 1 }
  }
#endif
