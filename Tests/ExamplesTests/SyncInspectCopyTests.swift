#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import Testing

  @Suite("sync-inspect move and backup", .timeLimit(.minutes(10)))
  struct SyncInspectCopyTests {
    private static let tool = Tool(name: "sync-inspect")
    private static let database = ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"]

    /// Makes a store with records, deletions, marks, withheld changes, edits and conflicts.
    private func make(at path: String, records: Int) async throws {
      let store = try await SQLiteStore.open(path: path)
      let schema = try SyncSchema(
        Entity("teams"), Entity("games", references: [.to("teams", by: "home")], indexes: ["v"]))
      let remote = InMemoryRemote()
      for number in 0..<20 { remote.upsert("teams", "t\(number)", "{}") }
      for number in 0..<records {
        remote.upsert("games", "g\(number)", #"{"home":"t\#(number % 25)","v":\#(number)}"#)
      }
      remote.putMalformed("games", "bad", Array("{".utf8))
      let engine = try await SyncEngine(schema: schema, store: store, source: remote)
      _ = try await engine.sync()
      for number in 0..<50 { remote.delete("games", "g\(number * 7)") }
      _ = try await engine.sync()
      try await engine.edits.perform { (batch) throws(SyncError) in
        for number in 100..<200 where number % 25 < 20 && number % 7 != 0 {
          try batch.set(RecordID(type: "games", key: "g\(number)")) { $0["v"] = Array("0".utf8)[...] }
        }
      }
      await store.close()
    }

    private func output(_ arguments: String...) async throws -> String {
      let outcome = try await Self.tool.start(arguments).outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
      return outcome.output
    }

    /// All that the tool prints of a store.
    private func story(of place: String) async throws -> [String] {
      var parts = [
        try await output("outbox", "--store", place), try await output("quarantine", "--store", place),
        try await output("conflicts", "--store", place),
        try await identity(of: place),
      ]
      for type in ["teams", "games"] {
        parts.append(try await output("export", "--store", place, "--type", type))
      }
      return parts
    }

    /// The store's identity, and the tokens of its checkpoints.
    private func identity(of place: String) async throws -> String {
      let opened = try await OpenedStore.open(place, isReadOnly: true)
      let told = try await opened.store.read { (snapshot) throws(SyncError) in
        var told = [try snapshot.storeIdentity()]
        for key in try snapshot.keys(withPrefix: "", after: nil, limit: 1000) {
          told.append("\(key) \(String(decoding: try snapshot.value(forKey: key) ?? [], as: UTF8.self))")
        }
        return told.joined(separator: "\n")
      }
      await opened.close()
      return told
    }

    /// Moves a store, and kills the tool on its way.
    private func move(_ old: String, to new: String, kills: Int) async throws {
      var random = SplitMix64(seed: 7)
      for _ in 0..<kills {
        let running = try Self.tool.start(["move", "--from", old, "--to", new])
        try await Task.sleep(for: .milliseconds(20 + random.number(below: 200)))
        running.send(SIGKILL)
        _ = await running.outcome()
      }
      // A server needs a moment to notice that its client was killed.
      var outcome: Tool.Outcome
      repeat {
        outcome = try await Self.tool.start(["move", "--from", old, "--to", new]).outcome()
      } while outcome.errors.contains("syncAlreadyInProgress") && !Task.isCancelled
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func movesEverythingWhereverItIsKilled() async throws {
      try await withFolder { folder in
        let (old, new) = (folder.path("old.db"), folder.path("new.db"))
        try await make(at: old, records: 5000)
        let before = try await story(of: old)
        try await move(old, to: new, kills: 10)
        #expect(try await story(of: new) == before)
        // Again, it changes nothing.
        #expect(try await output("move", "--from", old, "--to", new) == "")
        #expect(try await output("move", "--from", old, "--to", new, "--json") == "{\"moved\":true}\n")

        let edit = ["edit", "--type", "teams", "--id", "t1", "--set", "name=1", "--store"]
        let refused = try await Self.tool.start(edit + [old]).outcome()
        #expect(refused.status == 1)
        #expect(refused.errors.contains("moved to \(new)"))
        #expect(try await Self.tool.start(edit + [new]).outcome().status == 0)
        let abandoned = try await Self.tool.start(["move", "--abandon", "--from", old, "--to", new]).outcome()
        #expect(abandoned.status == 1)
        // Nor by the name of a store that it has not moved to.
        let other = folder.path("other.db")
        let mistaken = try await Self.tool.start(["move", "--abandon", "--from", old, "--to", other])
          .outcome()
        #expect(mistaken.status == 1 && mistaken.errors.contains("moved to \(new)"))
        #expect(!FileManager.default.fileExists(atPath: other))
      }
    }

    @Test func backsAStoreUpWhileItIsInUse() async throws {
      try await withFolder { folder in
        let (old, backup) = (folder.path("old.db"), folder.path("backup.db"))
        try await make(at: old, records: 500)
        let before = try await story(of: old)
        let store = try await SQLiteStore.open(path: old)
        let told = try await output("backup", "--store", old, "--to", backup)
        #expect(told.hasPrefix("\(backup) has all of \(old): ") && told.hasSuffix("verified.\n"))
        await store.close()
        #expect(try await story(of: backup) == before)
        // The store stays in use, and no backup replaces another.
        _ = try await output("edit", "--type", "teams", "--id", "t1", "--set", "name=1", "--store", old)
        let again = try await Self.tool.start(["backup", "--store", old, "--to", backup]).outcome()
        #expect(again.status == 1 && again.errors.contains("exists already"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains { $0.contains("incomplete") }, "\(names)")
        let moved = try await Self.tool.start(["move", "--from", old, "--to", folder.path("new.db")])
          .outcome()
        #expect(moved.status == 0)
        let status = try await output("status", "--store", old)
        #expect(status.hasPrefix("This store has moved to \(folder.path("new.db"))"))
      }
    }

    @Test func doesNotTakeABackupForTheNewStore() async throws {
      try await withFolder { folder in
        let (old, backup) = (folder.path("old.db"), folder.path("backup.db"))
        try await make(at: old, records: 5)
        let store = try await SQLiteStore.open(path: old)
        try await store.copy(to: backup)
        await store.close()
        let refused = try await Self.tool.start(["move", "--from", old, "--to", backup]).outcome()
        #expect(refused.status == 1 && refused.errors.contains("a backup"))
        _ = try await output("edit", "--type", "teams", "--id", "t1", "--set", "name=1", "--store", old)
      }
    }

    /// Starts a move, and sends it a signal once all games are there.
    private func stopped(
      by signal: Int32, _ old: String, to new: String, _ more: String...
    ) async throws -> RunningTool {
      let running = try Self.tool.start(["move", "--from", old, "--to", new] + more)
      await running.waitForErrors {
        $0.contains("games is there.")
      } then: {
        running.send(signal)
      }
      return running
    }

    @Test func leavesOneStoreOfOneIdentityWhereAMoveIsAbandoned() async throws {
      try await withFolder { folder in
        let (old, partial, new) = (folder.path("old.db"), folder.path("partial.db"), folder.path("new.db"))
        try await make(at: old, records: 20_000)
        let killed = try await stopped(by: SIGKILL, old, to: partial).outcome()
        #expect(killed.wasKilled)
        _ = try await output("move", "--abandon", "--from", old, "--to", partial)
        // The partial store can take up nothing any more, also after edits of the old one.
        _ = try await output("edit", "--type", "teams", "--id", "t1", "--set", "name=1", "--store", old)
        let again = try await Self.tool.start(["move", "--from", old, "--to", partial]).outcome()
        #expect(again.status == 1 && again.errors.contains("holds something"), "\(again.errors)")
        _ = try await output("move", "--from", old, "--to", new)
        let late = try await Self.tool.start(["move", "--from", old, "--to", partial]).outcome()
        #expect(late.status == 1, "\(late.errors)")
        let edit = ["edit", "--type", "teams", "--id", "t1", "--set", "name=2", "--store", old]
        let refused = try await Self.tool.start(edit).outcome()
        #expect(refused.status == 1 && refused.errors.contains("moved to \(new)"))
        #expect(try await identity(of: partial) != identity(of: new))
      }
    }

    /// An earlier version left the progress in the new store when it abandoned a move.
    @Test func goesOnOnlyWhereTheOldStoreHasMoved() async throws {
      try await withFolder { folder in
        let (old, partial, new) = (folder.path("old.db"), folder.path("partial.db"), folder.path("new.db"))
        try await make(at: old, records: 20_000)
        #expect(try await stopped(by: SIGKILL, old, to: partial).outcome().wasKilled)
        for (place, words) in [(new, "has moved to \(new)"), (nil, "was abandoned")] {
          let store = try await SQLiteStore.open(path: old)
          try await store.retire(movedTo: place)
          await store.close()
          let refused = try await Self.tool.start(["move", "--from", old, "--to", partial]).outcome()
          #expect(refused.status == 1 && refused.errors.contains(words), "\(refused.errors)")
        }
      }
    }

    @Test func isNotAbandonedWhileItIsUnderWay() async throws {
      try await withFolder { folder in
        let (old, new) = (folder.path("old.db"), folder.path("new.db"))
        try await make(at: old, records: 20_000)
        let running = try await stopped(by: SIGSTOP, old, to: new)
        let abandoned = try await Self.tool.start(["move", "--abandon", "--from", old, "--to", new]).outcome()
        #expect(abandoned.status == 1)
        running.send(SIGCONT)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let edit = ["edit", "--type", "teams", "--id", "t1", "--set", "name=1", "--store", old]
        #expect(try await Self.tool.start(edit).outcome().status == 1)
      }
    }

    @Test func stopsAtCtrlCAndGoesOnFromThere() async throws {
      try await withFolder { folder in
        let (old, new) = (folder.path("old.db"), folder.path("new.db"))
        try await make(at: old, records: 20_000)
        let before = try await story(of: old)
        let outcome = try await stopped(by: SIGINT, old, to: new, "--json").outcome()
        #expect(outcome.status == 130 && !outcome.wasKilled, "\(outcome.errors)")
        #expect(outcome.output == "{\"wasCancelled\":true}\n")
        #expect(outcome.errors.contains("same command again"))
        _ = try await output("move", "--from", old, "--to", new)
        #expect(try await story(of: new) == before)
      }
    }

    @Test func salvagesNoStoreIntoADatabase() async throws {
      try await withFolder { folder in
        try await make(at: folder.path("old.db"), records: 5)
        let outcome = try await Self.tool.start(
          ["salvage", "--from", "old.db", "--to", "postgres://localhost/league?schema=foo"], in: folder.url
        ).outcome()
        #expect(outcome.status == 2 && outcome.errors.contains("--to must be a file"), "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.allSatisfy { $0.hasPrefix("old.db") })
      }
    }

    @Test func stopsASalvageAtCtrlC() async throws {
      try await withFolder { folder in
        let (old, new) = (folder.path("old.db"), folder.path("new.db"))
        try await make(at: old, records: 20_000)
        let running = try Self.tool.start(["salvage", "--from", old, "--to", new, "--json"])
        await running.waitForFile(new + ".incomplete") { running.send(SIGINT) }
        let outcome = await running.outcome()
        #expect(outcome.status == 130 && outcome.output == "{\"wasCancelled\":true}\n", "\(outcome)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains { $0.hasPrefix("new.db") && !$0.hasSuffix(".lease") }, "\(names)")
      }
    }

    /// The new store's log outlives its closing while another program has it open.
    @Test func salvagesNothingIntoAStoreThatIsOpen() async throws {
      try await withFolder { folder in
        let (old, new) = (folder.path("old.db"), folder.path("new.db"))
        try await make(at: old, records: 10_000)
        var (reader, outcome): (SQLiteStore?, Tool.Outcome?) = (nil, nil)
        repeat {
          // The one before was over too soon.
          _ = try? FileManager.default.removeItem(atPath: new)
          let running = try Self.tool.start(["salvage", "--from", old, "--to", new])
          while reader == nil, running.isRunning, !FileManager.default.fileExists(atPath: new) {
            reader = try? await SQLiteStore.open(
              path: new + ".incomplete", configuration: .init(isReadOnly: true))
          }
          outcome = await running.outcome()
        } while reader == nil && !Task.isCancelled
        #expect(outcome?.status == 1 && outcome?.errors.contains("has \(new).incomplete open") == true)
        #expect(!FileManager.default.fileExists(atPath: new))
        await reader?.close()
        _ = try await output("salvage", "--from", old, "--to", new)
        #expect(try await output("outbox", "--store", new) == output("outbox", "--store", old))
      }
    }

    @Test func refusesAStoreThatHoldsSomethingAndCanBeAbandoned() async throws {
      try await withFolder { folder in
        let (old, other) = (folder.path("old.db"), folder.path("other.db"))
        try await make(at: old, records: 50)
        try await make(at: other, records: 5)
        let refused = try await Self.tool.start(["move", "--from", old, "--to", other]).outcome()
        #expect(refused.status == 1)
        #expect(refused.errors.contains("holds something"))
        let nowhere = folder.path("nowhere.db")
        let missing = try await Self.tool.start(["move", "--from", nowhere, "--to", folder.path("new.db")])
          .outcome()
        #expect(missing.status == 1)
        #expect(!FileManager.default.fileExists(atPath: nowhere))
        let store = try await SQLiteStore.open(path: old)
        try await store.retire(movedTo: folder.path("gone.db"))
        await store.close()
        let told = try await output(
          "move", "--abandon", "--from", old, "--to", folder.path("gone.db"), "--json")
        #expect(told == "{\"moved\":false}\n")
        _ = try await output("edit", "--type", "teams", "--id", "t1", "--set", "name=1", "--store", old)
      }
    }

    #if Postgres
      @Test(.enabled(if: database != nil)) func movesToADatabaseAndBack() async throws {
        try await withFolder { folder in
          let schema = "copy_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
          let (old, back) = (folder.path("old.db"), folder.path("back.db"))
          let database = "\(Self.database ?? "")?schema=\(schema)"
          try await make(at: old, records: 5000)
          let before = try await story(of: old)
          try await move(old, to: database, kills: 5)
          #expect(try await story(of: database) == before)
          try await move(database, to: back, kills: 5)
          #expect(try await story(of: back) == before)
        }
      }

      @Test(.enabled(if: database != nil)) func salvagesADatabase() async throws {
        try await withFolder { folder in
          let schema = "copy_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
          let (old, new) = (folder.path("old.db"), folder.path("new.db"))
          let database = "\(Self.database ?? "")?schema=\(schema)"
          try await make(at: old, records: 500)
          _ = try await output("move", "--from", old, "--to", database)
          _ = try await output("salvage", "--from", database, "--to", new)
          #expect(try await output("verify", "--store", new).hasPrefix("The store is sound."))
          let pending = try await Self.tool.run("outbox", "--store", database, "--json").json["pending"]
          let salvaged = try await Self.tool.run("outbox", "--store", new, "--json").json["pending"]
          #expect(pending as? Int == salvaged as? Int && salvaged as? Int ?? 0 > 0)
          let games = try await output("export", "--store", database, "--type", "games")
          #expect(try await output("export", "--store", new, "--type", "games") == games)
        }
      }
    #endif
  }
#endif
