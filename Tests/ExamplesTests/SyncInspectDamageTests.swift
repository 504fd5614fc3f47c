#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import Testing

  @Suite("sync-inspect verify and salvage", .timeLimit(.minutes(10)))
  struct SyncInspectDamageTests {
    private static let tool = Tool(name: "sync-inspect")

    /// Creates a store with two teams, a game and an edit.
    private func with(_ body: (InspectedStore) async throws -> Void) async throws {
      try await InspectedStore.with { store in
        try store.write("teams", [#"{"id":"BOS"}"#, #"{"id":"NYA"}"#])
        try store.write("games", [#"{"id":"g","home_team_id":"BOS"}"#])
        try await store.sync()
        let edited = try await store.inspect(
          "edit", "--type", "teams", "--id", "BOS", "--set", #"name="Bees""#)
        #expect(edited.status == 0)
        try await body(store)
      }
    }

    private func damage(_ store: InspectedStore, _ sql: String) async throws {
      let open = try await SQLiteStore.open(path: store.path)
      try await open.execute(sql)
      await open.close()
    }

    @Test func verifiesASoundStoreAndADamagedOne() async throws {
      try await with { store in
        let sound = try await store.inspect("verify")
        #expect(sound.status == 0 && sound.errors == "")
        #expect(sound.lines.first?.hasPrefix("The store is sound. Checked: 3 rows, ") == true)
        let object = try await store.inspect("verify", "--json").json
        #expect(object["sound"] as? Bool == true && object["count"] as? Int == 0)
        #expect((object["checked"] as? [String: Int])?["outbox"] == 1)

        try await damage(store, "UPDATE outbox_counts SET entries = 7")
        let damaged = try await store.inspect("verify")
        #expect(damaged.status == 1)
        #expect(damaged.lines.first == "counts (teams): the outbox has 1 edits, and its count is 7")
        let json = try await store.inspect("verify", "--json")
        let findings = try #require(try json.json["findings"] as? [[String: Any]])
        #expect(json.status == 1 && findings.first?["part"] as? String == "counts")
      }
    }

    @Test func verifiesAFileThatCannotBeOpened() async throws {
      try await with { store in
        try Data("no database, and longer than a header would be: \(String(repeating: "x", count: 100))".utf8)
          .write(to: URL(filePath: store.path))
        let outcome = try await store.inspect("verify", "--json")
        #expect(try outcome.status == 1 && outcome.json["sound"] as? Bool == false)
        try Data().write(to: URL(filePath: store.path))
        let empty = try await store.inspect("verify", "--json")
        #expect(try empty.status == 1 && empty.json["sound"] as? Bool == false)
        let missing = try await Self.tool.start(["verify", "--store", store.path + ".none"]).outcome()
        #expect(missing.status == 1 && missing.errors.contains("no store"))
      }
    }

    @Test func salvagesADamagedStore() async throws {
      try await with { store in
        try await damage(store, "DROP TABLE set_aside_counts")
        let before = try Data(contentsOf: URL(filePath: store.path))
        let new = store.path + ".new"
        let outcome = try await Self.tool.start(["salvage", "--from", store.path, "--to", new]).outcome()
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.output.contains("1 edit, 0 conflicts, 0 kept values and 2 records"))
        #expect(try Data(contentsOf: URL(filePath: store.path)) == before)
        let verified = try await Self.tool.start(["verify", "--store", new]).outcome()
        #expect(verified.status == 0)
        let edit = try await Self.tool.start(["outbox", "--store", new, "--json"]).outcome()
        #expect(try edit.json["pending"] as? Int == 1)
        let folder = URL(filePath: store.path).deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.contains("incomplete") })

        // The new store is not overwritten.
        let again = try await Self.tool.start(["salvage", "--from", store.path, "--to", new]).outcome()
        #expect(again.status == 1 && again.errors.contains("exists already"))
      }
    }

    @Test func tellsOfAnEditThatIsKeptAsItReads() async throws {
      try await with { store in
        try await damage(store, "UPDATE outbox SET state = 'x'")
        let new = store.path + ".new"
        let outcome = try await Self.tool.start(["salvage", "--from", store.path, "--to", new]).outcome()
        #expect(outcome.status == 1 && (outcome.output + outcome.errors).contains("kept as it reads"))
        #expect(outcome.output.contains("1 edit, 0 conflicts, 0 kept values and 2 records"))
        #expect(try await Self.tool.start(["verify", "--store", new]).outcome().status == 0)
      }
    }

    @Test func tellsThatAnEditIsLost() async throws {
      try await with { store in
        try await damage(store, "UPDATE outbox SET payload = x'7b'")
        let outcome = try await Self.tool.start([
          "salvage", "--from", store.path, "--to", store.path + ".new", "--json",
        ]).outcome()
        #expect(outcome.status == 1)
        let json = try outcome.json
        #expect(json["lostLocalState"] as? Bool == true && json["edits"] as? Int == 0)
        let losses = try #require(json["losses"] as? [[String: Any]])
        #expect(losses.contains { $0["key"] as? String == "BOS" && $0["part"] as? String == "outbox" })
      }
    }

    @Test func removesNoFileThatItIsToRead() async throws {
      try await with { store in
        let new = store.path + ".new"
        let partial = new + ".incomplete"
        try FileManager.default.copyItem(atPath: store.path, toPath: partial)
        let content = try Data(contentsOf: URL(filePath: partial))
        let outcome = try await Self.tool.start(["salvage", "--from", partial, "--to", new]).outcome()
        #expect(outcome.status == 1 && outcome.errors.contains("another name"))
        #expect(try Data(contentsOf: URL(filePath: partial)) == content)
        // Nor a directory of such a name.
        try FileManager.default.removeItem(atPath: partial)
        try FileManager.default.createDirectory(
          atPath: partial + "/precious", withIntermediateDirectories: true)
        let other = try await Self.tool.start(["salvage", "--from", store.path, "--to", new]).outcome()
        #expect(other.status == 1)
        #expect(FileManager.default.fileExists(atPath: partial + "/precious"))
      }
    }

    @Test func namesTheFileThatIsInTheWay() async throws {
      try await with { store in
        let new = store.path + ".new"
        // A link that leads nowhere, and a file of SQLite's.
        try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: "nowhere")
        let linked = try await Self.tool.start(["salvage", "--from", store.path, "--to", new]).outcome()
        #expect(linked.status == 1 && linked.errors.contains("\(new) exists already"))
        try FileManager.default.removeItem(atPath: new)
        try Data("x".utf8).write(to: URL(filePath: new + "-shm"))
        let beside = try await Self.tool.start(["salvage", "--from", store.path, "--to", new]).outcome()
        #expect(beside.status == 1 && beside.errors.contains("\(new)-shm exists already"))
      }
    }

    @Test func leavesNothingWhereNothingCanBeRead() async throws {
      try await with { store in
        let folder = URL(filePath: store.path).deletingLastPathComponent()
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let foreign = folder.appending(path: "records/teams.ndjson").path
        for (from, reason) in [(store.path + ".none", "is missing"), (foreign, "SQLite refuses \(foreign)")] {
          let outcome = try await Self.tool.start(["salvage", "--from", from, "--to", store.path + ".new"])
            .outcome()
          #expect(outcome.status == 1 && outcome.errors.contains(reason))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
      }
    }
  }
#endif
