#if SQLite
  import Foundation
  import Testing

  /// The tool's scenario of two devices. The final state is read from the stores and the remote.
  @Suite("device-settings", .timeLimit(.minutes(10)))
  struct DeviceSettingsTests {
    let tool = Tool(name: "device-settings")
    let inspect = Tool(name: "sync-inspect")

    @Test func comesToTheEndThatEveryChapterPromises() async throws {
      let outcome = try await tool.run("--json")
      #expect(outcome.status == 0 && outcome.errors == "")
      let end = try outcome.json
      func chapter(_ name: String) throws -> [String: Any] { try #require(end[name] as? [String: Any]) }

      let rename = try chapter("rename")
      let later = try #require(rename["whenAPushesLater"] as? [String: Any])
      for names in [rename, later] {
        for place in ["a", "b", "remote"] { #expect(names[place] as? String == "Bathroom") }
      }
      let duplicate = try chapter("duplicate")
      for place in ["records", "onA", "onB"] { #expect(duplicate[place] as? Int == 1) }
      let rebuild = try chapter("rebuild")
      #expect(rebuild["recordsBefore"] as? Int == 5000 && rebuild["recordsAfter"] as? Int == 500)
      #expect(rebuild["recordsOnB"] as? Int == 500 && rebuild["recordsAtRemote"] as? Int == 500)
      #expect(rebuild["deletesAtRemote"] as? Int == 4500 && rebuild["deletesOfSecondRun"] as? Int == 0)
      #expect(rebuild["danglingReadings"] as? Int == 0)
      let discovery = try chapter("discovery")
      #expect(discovery["recordedAt"] as? [Int] == [0, 120, 240])
      #expect(discovery["heardAt"] as? [Int] == [0, 30, 60, 90, 120, 240])
      let offline = try chapter("offline")
      #expect(offline["queued"] as? Int == 3 && offline["drained"] as? Int == 3)
      #expect(offline["requests"] as? Int == 1 && offline["onB"] as? Int == 3)
      let quota = try chapter("quota")
      #expect(quota["wasFull"] as? Bool == true && quota["eventsTold"] as? Int == 1)
      #expect(quota["kept"] as? Int == 3 && quota["left"] as? Int == 0)
      #expect(quota["renamedMeanwhile"] as? String == "Main pipe")
      let refusal = try chapter("refusal")
      #expect(refusal["accepted"] as? Int == 2 && refusal["refused"] as? [String] == ["garden-2"])
      #expect(refusal["requestsForItAfterwards"] as? Int == 0 && refusal["left"] as? Int == 0)
      let migration = try chapter("migration")
      #expect(migration["added"] as? Int == 1 && migration["merged"] as? Int == 1)
      #expect(migration["readsOfSecondRun"] as? Int == 0)
      #expect(migration["isSourceUntouched"] as? Bool == true)
      let conflicts = try #require(end["conflicts"] as? [[String: Any]])
      #expect(conflicts.map { $0["winner"] as? String } == ["remote", "local"])
    }

    @Test func isTheSameEachTimeAndLeavesStoresToLookInto() async throws {
      try await withFolder { folder in
        let first = try await tool.start([]).outcome()
        let stores = folder.path("phones")
        let second = try await tool.run("--stores", stores)
        #expect(first.status == 0 && second.status == 0)
        #expect(second.lines.starts(with: first.lines))
        let (a, b) = ("\(stores)/a.sqlite", "\(stores)/b.sqlite")
        let meters = try await inspect.run("export", "--type", "meters", "--store", a)
        #expect(meters.lines.count > 500)
        #expect(try await inspect.run("export", "--type", "meters", "--store", b).lines == meters.lines)
        for store in [a, b] {
          #expect(try await inspect.run("outbox", "--store", store, "--json").json["pending"] as? Int == 0)
          let conflicts = try await inspect.run("conflicts", "--store", store)
          #expect(conflicts.output.contains("Kitchen") && conflicts.output.contains("Bathroom"))
        }
        let third = try await tool.run("--stores", stores, "--json")
        #expect(third.status == 1 && third.lines.count == 1 && third.errors.contains("a.sqlite"))
        #expect(try third.json["error"] is String)
        #expect(try await inspect.run("export", "--type", "meters", "--store", a).lines == meters.lines)
      }
    }

    @Test func leavesNothingBehindByItself() async throws {
      try await withFolder { folder in
        let outcome = try await RunningTool(
          executable: tool.executable, [], in: folder.url, environment: ["TMPDIR": folder.url.path]
        ).outcome()
        #expect(outcome.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
      }
    }

    @Test func refusesWhatItDoesNotUnderstand() async throws {
      let outcome = try await tool.run("--phones", "2")
      #expect(outcome.status == 2 && outcome.output == "" && outcome.errors.contains("--help"))
      try await withFolder { folder in
        try folder.write("file", ["x"])
        let outcome = try await tool.run("--stores", folder.path("file"))
        #expect(outcome.status == 1 && outcome.output == "" && outcome.errors.contains("file"))
      }
    }
  }
#endif
