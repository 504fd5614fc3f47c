#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import Testing

  @Suite("sync-inspect and local edits", .timeLimit(.minutes(10)))
  struct SyncInspectEditTests {
    private func withFilledStore(_ body: (InspectedStore) async throws -> Void) async throws {
      try await InspectedStore.with { store in
        try store.write("teams", [#"{"id":"BOS","name":"Reds"}"#, #"{"id":"NYA"}"#])
        try store.write("games", [#"{"id":"g1","home_team_id":"BOS"}"#])
        try await store.sync()
        try await body(store)
      }
    }

    private func entries(_ store: InspectedStore) async throws -> [[String: Any]] {
      let outcome = try await store.inspect("outbox", "--json")
      #expect(outcome.status == 0 && outcome.errors == "")
      return try #require(try outcome.json["entries"] as? [[String: Any]])
    }

    @Test func editsAreShownAtOnceAndWaitInTheOutbox() async throws {
      try await withFilledStore { store in
        let edit = try await store.inspect(
          "edit", "--type", "teams", "--id", "BOS", "--set", #"name="Bees = 1""#, "--set", "founded=1901")
        #expect(edit.status == 0 && edit.errors == "")
        #expect(edit.output.contains("teams/BOS is changed here"))
        let lines = try await store.inspect("export", "--type", "teams").lines
        #expect(lines == [#"{"id":"BOS","name":"Bees = 1","founded":1901}"#, #"{"id":"NYA"}"#])
        let entries = try await entries(store)
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry["type"] as? String == "teams" && entry["key"] as? String == "BOS")
        #expect(entry["what"] as? String == "upsert" && entry["state"] as? String == "waiting")
        #expect(entry["attempts"] as? Int == 0 && entry["base"] is [String: Any])
        #expect((entry["stamp"] as? String).flatMap { EditStamp($0) } != nil)
        let table = try await store.inspect("outbox", "--type", "teams")
        #expect(table.lines.contains { $0.hasPrefix("teams/BOS") && $0.contains("waits for the next push") })
        #expect(
          try await store.inspect("outbox", "--type", "games").output == "No edit waits to be pushed.\n")
        let story = try await store.inspect("explain", "--type", "teams", "--id", "BOS")
        #expect(story.output.contains("is live") && story.output.contains("waits for the next push"))
        let types = try await store.inspect("status", "--json").json["types"] as? [String: [String: Any]]
        #expect(types?["teams"]?["pending"] as? Int == 1 && types?["games"]?["pending"] as? Int == 0)
      }
    }

    @Test func whatJSONCannotCarryIsNoEdit() async throws {
      try await withFilledStore { store in
        for value in [#""\ud800""#, "1e400"] {
          let edit = try await store.inspect(
            "edit", "--type", "teams", "--id", "BOS", "--set", "name=\(value)")
          #expect(edit.status == 1)
          #expect(edit.errors.contains("The value for name"), "\(edit.errors)")
        }
        #expect(try await entries(store).isEmpty)
      }
    }

    @Test func aRecordStaysWhoItIs() async throws {
      try await withFilledStore { store in
        for (option, value) in [("--set", #"id="NYA""#), ("--unset", "id")] {
          let edit = try await store.inspect(
            "edit", "--type", "teams", "--id", "BOS", option, value)
          #expect(edit.status == 2)
          #expect(edit.errors.contains("a record's id cannot change"))
        }
        // A new record has its id, with or without the option.
        _ = try await store.inspect("edit", "--type", "teams", "--id", "WAS", "--set", "founded=1901")
        #expect(
          try await store.inspect("export", "--type", "teams").lines.last == #"{"founded":1901,"id":"WAS"}"#)
      }
    }

    @Test func failuresAreToldAsJSONToo() async throws {
      try await withFilledStore { store in
        let outcome = try await store.inspect("export", "--type", "nothing", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.json["error"] as? String == "invalidConfiguration")
      }
    }

    @Test func editsOutliveASync() async throws {
      try await withFilledStore { store in
        _ = try await store.inspect("edit", "--type", "teams", "--id", "WAS", "--set", #"id="WAS""#)
        _ = try await store.inspect("edit", "--type", "games", "--id", "g1", "--set", #"home_team_id="WAS""#)
        try await store.sync()
        #expect(
          try await store.inspect("export", "--type", "games").lines == [#"{"id":"g1","home_team_id":"WAS"}"#]
        )
        let entries = try await entries(store)
        #expect(entries.map { $0["key"] as? String } == ["g1", "WAS"])
        #expect(entries.last?["base"] is NSNull)
      }
    }

    @Test func deletionsCanBeTakenBack() async throws {
      try await withFilledStore { store in
        let deletion = try await store.inspect("edit", "--type", "games", "--id", "g1", "--delete", "--json")
        #expect(try deletion.status == 0 && deletion.json["changed"] as? Bool == true)
        #expect(try await store.inspect("export", "--type", "games").output == "")
        let story = try await store.inspect("explain", "--type", "games", "--id", "g1")
        #expect(story.output.contains("was deleted here") && !story.output.contains("at the remote"))
        #expect(try await entries(store).first?["what"] as? String == "delete")
        let discard = try await store.inspect("edit", "--type", "games", "--id", "g1", "--discard")
        #expect(discard.status == 0 && discard.output.contains("is discarded"))
        #expect(try await store.inspect("export", "--type", "games").lines.count == 1)
        #expect(try await entries(store).isEmpty)
      }
    }

    @Test func membersAreRemovedAndWhatIsLikeThatAlreadyStays() async throws {
      try await withFilledStore { store in
        let edit = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--unset", "name")
        #expect(edit.status == 0)
        #expect(try await store.inspect("export", "--type", "teams").lines.first == #"{"id":"BOS"}"#)
        for arguments in [
          ["--id", "BOS", "--unset", "name"], ["--id", "LAN", "--delete"], ["--id", "NYA", "--retry"],
        ] {
          let outcome = try await store.shell(
            #""$TOOL" edit --store "$STORE" --json --type teams \#(arguments.joined(separator: " "))"#)
          #expect(try outcome.status == 0 && outcome.json["changed"] as? Bool == false)
        }
        #expect(try await entries(store).count == 1)
      }
    }

    @Test(
      arguments: [
        ("--type planes --id p --delete", 1, "games, teams"),
        (#"--type games --id g1 --set home_team_id='"XXX"'"#, 1, "teams/XXX"),
        ("--type teams --id BOS --delete", 1, "refer to it"),
        ("--type games --id g9 --set schema=7", 1, "is not supported"),
        ("--type teams --id BOS --set name=Bees", 2, #"--set 'name="Bees"'"#),
        (#"--type teams --id BOS --set 'x={"a":1'"#, 2, "not JSON"),
        ("--type teams --id BOS --set name", 2, "--set takes"),
        ("--type teams --id BOS --set =1", 2, "--set takes"),
        ("--type teams --id BOS", 2, "--set, --unset, --delete"),
        ("--type teams --id BOS --delete --set a=1", 2, "together"),
        ("--type teams --id BOS --discard --retry", 2, "together"),
        ("--id BOS --delete", 2, "--type"),
      ])
    func whatCannotStandChangesNothing(_ arguments: String, _ status: Int32, _ reason: String) async throws {
      try await withFilledStore { store in
        let outcome = try await store.shell(#""$TOOL" edit --store "$STORE" \#(arguments)"#)
        #expect(outcome.status == status && outcome.output == "")
        #expect(outcome.errors.contains(reason), "\(outcome.errors)")
        #expect(try await entries(store).isEmpty)
        #expect(try await store.inspect("export", "--type", "teams").lines.count == 2)
      }
    }

    @Test func aMissingStoreStaysMissing() async throws {
      try await InspectedStore.with { store in
        let outcome = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--delete")
        #expect(outcome.status == 1 && outcome.errors.contains("store.db"))
        #expect(!FileManager.default.fileExists(atPath: store.path))
      }
    }

    @Test func whatTheRemoteRefusedIsShownWithTheReasonAndSentAgainIfAsked() async throws {
      try await withFilledStore { store in
        _ = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--set", "name=1")
        let file = try await SQLiteStore.open(path: store.path)
        try await file.write(.app) { (transaction) throws(SyncError) in
          let entries = try transaction.outbox("teams", after: nil, limit: 10).map { entry in
            var entry = entry
            entry.attempts = 1
            entry.state = .refused(reason: "no \u{1B}[31mnumbers", at: Timestamp(milliseconds: 0))
            return entry
          }
          try transaction.queue(entries)
        }
        await file.close()
        let table = try await store.inspect("outbox").output
        #expect(table.contains("refused at 1970-01-01T00:00:00Z") && !table.contains("\u{1B}"))
        let story = try await store.inspect("explain", "--type", "teams", "--id", "BOS").output
        #expect(story.contains("it was sent 1 time."))
        #expect(story.contains("was refused by the remote") && !story.contains("\u{1B}"))
        let outcome = try await store.inspect("outbox", "--json")
        #expect(try outcome.json["refused"] as? Int == 1)
        #expect(try await entries(store).first?["reason"] as? String == "no \u{1B}[31mnumbers")
        let types = try await store.inspect("status", "--json").json["types"] as? [String: [String: Any]]
        #expect(types?["teams"]?["refused"] as? Int == 1)
        #expect(try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--retry").status == 0)
        #expect(try await entries(store).first?["state"] as? String == "waiting")
      }
    }

    @Test func conflictsAreShownWithBothVersionsTheNewestFirst() async throws {
      try await withFilledStore { store in
        #expect(try await store.inspect("conflicts").output == "No edit has met another one.\n")
        let soon = Int(Date.now.timeIntervalSince1970 + 100) * 1000
        _ = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--set", #"name="Mine""#)
        _ = try await store.inspect("edit", "--type", "games", "--id", "g1", "--set", #"name="Mine""#)
        try store.write(
          "teams",
          [
            #"{"id":"BOS","name":"Later","updated_at":\#(soon)}"#, #"{"id":"NYA"}"#,
          ])
        try store.write("games", [#"{"id":"g1","home_team_id":"NYA","updated_at":1000}"#])
        try await store.sync()
        let outcome = try await store.inspect("conflicts", "--json")
        let found = try #require(try outcome.json["entries"] as? [[String: Any]])
        #expect(found.map { $0["winner"] as? String } == ["local", "remote"])
        let lost = try #require(found.last)
        #expect(lost["key"] as? String == "BOS" && (lost["reason"] as? String)?.isEmpty == false)
        let (local, remote) = (lost["local"] as? [String: Any], lost["remote"] as? [String: Any])
        #expect(local?["content"] as? String == #"{"id":"BOS","name":"Mine"}"#)
        #expect((remote?["content"] as? String)?.contains("Later") == true)
        let text = try await store.inspect("conflicts", "--type", "teams").output
        #expect(text.contains("teams/BOS") && text.contains("Mine") && text.contains("Later"))
        #expect(!text.contains("games/g1"))
        #expect(try await store.inspect("conflicts", "--limit", "1", "--json").json["conflicts"] as? Int == 1)
        #expect(try await store.inspect("conflicts", "--limit", "0").status == 2)
      }
    }
  }
#endif
