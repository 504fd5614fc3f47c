#if SQLite
  import Foundation
  import Testing

  /// Wrong uses of the tool, and its answers.
  @Suite("schedule-sync, given something wrong,", .serialized, .timeLimit(.minutes(10)))
  struct BadInputTests {
    let tool = Tool(name: "schedule-sync")

    @Test(arguments: [
      (["--page-size", "0"], "between 1 and 100000, not 0"),
      (["--page-size", "many"], "whole number"),
      (["--page-size"], "needs a value"),
      (["--pagesize", "3"], "did you mean --page-size?"),
      (["surplus"], "surplus"),
    ])
    func explainsBadUsage(_ arguments: [String], _ words: String) async throws {
      let outcome = try await tool.start(arguments).outcome()
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.contains("--help"))
      #expect(outcome.output.isEmpty)
    }

    @Test func namesADirectoryThatIsNotThere() async throws {
      try await withFolder { folder in
        let outcome = try await tool.run("--store", folder.path("s"), "--data", folder.path("nowhere"))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(folder.path("nowhere")))
        #expect(!FileManager.default.fileExists(atPath: folder.path("s")))
      }
    }

    // A file that is being written may be empty.
    @Test func asksBeforeAFileThatWasEmptiedRemovesTenRecords() async throws {
      try await withFolder { folder in
        let options = ["--store", folder.path("s"), "--data", folder.path("data"), "--json"]
        for (count, isAsked) in [(9, false), (10, true)] {
          try folder.write(
            "data/teams.ndjson", (0..<count).map { #"{"id":"t\#($0)","updated_at":1}"# })
          #expect(try await tool.start(options).outcome().count("inserted") == count)
          try folder.write("data/teams.ndjson", [])
          var outcome = try await tool.start(options).outcome()
          if !isAsked {
            // A list that was emptied is read twice before anything goes.
            #expect(try outcome.count("swept") == 0)
            outcome = try await tool.start(options).outcome()
          }
          #expect(outcome.status == 0)
          #expect(try outcome.count("swept") == (isAsked ? 0 : count))
          #expect(outcome.errors.contains("10 of 10 records are gone from the remote") == isAsked)
          #expect(outcome.errors.contains("--allow-mass-deletion lets them go") == isAsked)
          let status = try await Tool(name: "sync-inspect").run("status", "--store", folder.path("s"))
          #expect(status.output.contains("lacked 10 of 10 records") == isAsked)
          guard isAsked else { continue }
          #expect(try await tool.start(options + ["--allow-mass-deletion"]).outcome().count("swept") == 10)
        }
      }
    }

    @Test func keepsWhatItCannotReadOrShow() async throws {
      try await withFolder { folder in
        try folder.write(
          "data/teams.ndjson",
          [
            #"{"id":"a","updated_at":1}"#, #"{"id":"b","name":"#, "nonsense", #"{"name":"without id"}"#,
            #"{"id":"a","name":"later","updated_at":2}"#, #"{"id":"c","stadium_id":"nowhere"}"#,
          ])
        let options = ["--store", folder.path("s"), "--data", folder.path("data"), "--json"]
        let outcome = try await tool.start(options).outcome()
        #expect(outcome.status == 0)
        #expect(try outcome.count("inserted") == 1)
        #expect(try outcome.count("quarantined") == 4)
        #expect(try outcome.count("deferred") == 1)
        #expect(outcome.errors.contains("teams.ndjson, line 2"))
        #expect(outcome.errors.contains("teams.ndjson, line 3"))
        let inspect = Tool(name: "sync-inspect")
        let export = try await inspect.run("export", "--type", "teams", "--store", folder.path("s"))
        #expect(export.output == #"{"id":"a","name":"later","updated_at":2}"# + "\n")
        let explained = try await inspect.run(
          "explain", "--type", "teams", "--id", "c", "--store", folder.path("s"))
        #expect(explained.output.contains("stadiums/nowhere"))
      }
    }

    @Test func countsWhatItSyncedIfTheRecordsAreNoGames() async throws {
      try await withFolder { folder in
        try folder.write("data/teams.ndjson", [#"{"id":"t","name":5}"#])
        try folder.write(
          "data/games.ndjson", [#"{"id":"g","date":"2026-01-01","home_team_id":"t"}"#])
        let options = ["--store", folder.path("s"), "--data", folder.path("data"), "--json"]
        for inserted in [2, 0] {
          let outcome = try await tool.start(options).outcome()
          #expect(outcome.status == 0, "\(outcome.errors)")
          #expect(try outcome.count("inserted") == inserted)
          #expect(outcome.output.contains("cannot be shown here as games and teams"))
        }
        // A team that is found later, by a game's reference.
        try folder.write(
          "data/teams.ndjson", [#"{"id":"t","name":5,"v":2}"#, #"{"id":"u","name":"Us"}"#])
        try folder.write(
          "data/games.ndjson",
          [#"{"id":"g","date":"2026-01-01","home_team_id":"u","away_team_id":"t"}"#])
        let outcome = try await tool.start(options).outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.count("inserted") == 1)
      }
    }

    @Test func leavesOutAFileWhoseNameDiffersFromATypeInCaseAlone() async throws {
      try await withFolder { folder in
        try folder.write("data/teams.ndjson", [#"{"id":"t"}"#])
        try folder.write("data/notes.ndjson", [#"{"id":"n"}"#])
        let options = ["--store", folder.path("s"), "--data", folder.path("data")]
        #expect(try await tool.start(options + ["--json"]).outcome().count("inserted") == 2)
        try FileManager.default.moveItem(
          atPath: folder.path("data/notes.ndjson"), toPath: folder.path("data/Notes.ndjson"))
        try folder.write("data/teams.ndjson", [#"{"id":"t"}"#, #"{"id":"u"}"#])
        let outcome = try await tool.start(options + ["--json"]).outcome()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Notes.ndjson is not synced"), "\(outcome.errors)")
        #expect(try outcome.count("inserted", of: "teams") == 1)
        #expect((try outcome.json["failures"] as? [String: String])?.keys.sorted() == ["notes"])
        // The file that is gone is a failure of its own type.
        let daemon = try await Tool(name: "sync-daemon").start(options + ["--once", "--json-log"]).outcome()
        let lines = daemon.errors.daemonLines
        #expect(lines.contains { $0.event == "notice" && $0["text"].contains("Notes.ndjson") })
        #expect(lines.contains { $0.event == "sync.finished" && $0["outcome"] == "partly" })
      }
    }

    @Test(arguments: ["1", "2", "400"])
    func saysWhereTheRecordsStandThatShareAnID(_ pageSize: String) async throws {
      try await withFolder { folder in
        try folder.write(
          "data/teams.ndjson",
          [
            #"{"id":"a","updated_at":1}"#, #"{"id":"b","updated_at":1}"#, "",
            #"{"id":"a","name":"later","updated_at":2}"#, #"{"id":"c"}"#, #"{"id":"a","updated_at":3}"#,
          ])
        try folder.write("data/things.ndjson", [#"{"id":"t","n":1}"#, #"{"id":"t","n":2}"#])
        let outcome = try await tool.run(
          "--store", folder.path("s"), "--data", folder.path("data"), "--page-size", pageSize)
        #expect(outcome.status == 0)
        let lines = outcome.errors.split(separator: "\n").filter { $0.contains("stands on") }
        // The order in which types sync is not tested.
        #expect(
          lines.sorted() == [
            "teams/a stands on lines 1, 4, 6 of teams.ndjson.",
            "things/t stands on lines 1, 2 of things.ndjson.",
          ])
      }
    }

    @Test(arguments: ["this is no database, and long enough to be looked at", ""])
    func leavesAFileThatIsNoStoreAsItIs(_ content: String) async throws {
      try await withFolder { folder in
        try Data(content.utf8).write(to: folder.url.appending(path: "s"))
        let outcome = try await tool.run("--store", folder.path("s"), "--data", folder.path("."))
        // SQLite itself accepts an empty file as a new database.
        #expect(outcome.status == (content.isEmpty ? 0 : 1))
        guard !content.isEmpty else { return }
        #expect(outcome.errors.contains("not a store"))
        #expect(try String(contentsOf: folder.url.appending(path: "s"), encoding: .utf8) == content)
      }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") && geteuid() == 0))
    func saysThatAStoreCannotBeWritten() async throws {
      try await withFolder { folder in
        let store = folder.path("s.sqlite")
        _ = try await tool.run("--store", store)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: store)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
        defer {
          try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        }
        func asNobody(_ arguments: String...) async throws -> Tool.Outcome {
          try await RunningTool(
            executable: URL(filePath: "/usr/bin/setpriv"), ["--reuid=65534", "--clear-groups"] + arguments,
            in: nil
          ).outcome()
        }
        // If other users may not run the build products, there is nothing to test.
        guard try await asNobody("/usr/bin/test", "-x", tool.executable.path).status == 0 else { return }
        let outcome = try await asNobody(tool.executable.path, "--store", store)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("storeReadOnly"), "\(outcome.errors)")
        #expect(outcome.errors.contains("cannot be written"), "\(outcome.errors)")
      }
    }
  }
#endif
