#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Testing

  @Suite(
    "Collections that sync-mirror meets",
    .enabled(if: RealKinto.address != nil, "Tests/run --all starts the server."),
    .serialized, .timeLimit(.minutes(20)))
  struct CollectionTests {
    @Test func oneThatWasDeletedIsEmptiedAndItsEditsAreTold() async throws {
      try await MirroredBucket.with(["kept", "gone"]) { bucket in
        try await bucket.load("kept", 3)
        try await bucket.load("gone", 3)
        #expect(try await bucket.mirror().count("inserted") == 6)
        let edit = try await Tool(name: "sync-inspect").run(
          "edit", "--store", bucket.store, "--type", "gone", "--id", "k0", "--set", "number=7")
        #expect(edit.status == 0, "\(edit.errors)")
        try await bucket.kinto.send("DELETE", "/collections/gone")

        let unpushed = try await bucket.mirror()
        #expect(unpushed.status == 0, "\(unpushed.errors)")
        #expect(try unpushed.json["waitingEdits"] as? Int == 1)
        #expect(try await bucket.exported("gone").count == 1, "What is edited here stays.")
        let pushed = try await bucket.mirror("--push")
        #expect(pushed.status == 1)
        #expect(try pushed.json["waitingEdits"] as? Int == 1)
        let outbox = try await Tool(name: "sync-inspect").run("outbox", "--store", bucket.store)
        #expect(outbox.output.contains("there is no collection gone"), "\(outbox.output)")
        #expect(try await bucket.exported("kept").count == 3)
      }
    }

    @Test func namesThatNoStoreCanHoldKeepNoOtherBack() async throws {
      let long = String(repeating: "x", count: 70)
      try await MirroredBucket.with(["games", "Games", long, "teams"]) { bucket in
        for type in ["games", "Games", long, "teams"] { try await bucket.load(type, 2) }
        for round in 0..<2 {
          let outcome = try await bucket.mirror()
          #expect(outcome.status == 1)
          let failures = try #require(try outcome.json["failures"] as? [String: String])
          #expect(Set(failures.keys) == ["games", long])
          #expect(outcome.errors.contains("differ in case alone"))
          #expect(try outcome.count("inserted") == (round == 0 ? 4 : 0))
        }
        #expect(try await bucket.exported("Games").count == 2)
        #expect(try await bucket.exported("teams").count == 2)
      }
    }

    @Test func aWatchGoesOnUntilTheOneThatIsNamedIsThere() async throws {
      try await MirroredBucket.with([]) { bucket in
        let running = try MirroredBucket.tool.start(
          bucket.arguments(["--watch", "--collection", "late", "--poll-max", "1"]))
        await running.waitFor("has no collection late")
        try await bucket.kinto.send("PUT", "/collections/late")
        try await bucket.load("late", 3)
        await running.waitForErrors { $0.inserted == 3 }
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await bucket.exported("late") == bucket.listed("late"))
      }
    }
  }
#endif
