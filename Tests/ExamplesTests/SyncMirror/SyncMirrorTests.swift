#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Testing

  #if Postgres
    import CanonicalSyncTestPostgres
  #endif

  @Suite(
    "sync-mirror", .enabled(if: RealKinto.address != nil, "Tests/run --all starts the server."), .serialized,
    .timeLimit(.minutes(20)))
  struct SyncMirrorTests {
    /// Kinto takes long for each page of a large collection.
    private static let games =
      ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] == nil ? 3000 : Int.max

    @Test(.enabled(if: Baseball.isPresent, "The shared data are absent."))
    func mirrorsABucketAsTheServerListsIt() async throws {
      try await MirroredBucket.with(Baseball.types) { bucket in
        for type in Baseball.types {
          try await bucket.kinto.load(type, try Baseball.objects(type, atMost: Self.games))
        }
        var listed: [String: [String]] = [:]
        for type in Baseball.types { listed[type] = try await bucket.listed(type) }
        for pageSize in ["37", "400"] {
          let first = try await bucket.mirror("--resync", "--page-size", pageSize)
          #expect(first.status == 0, "\(first.errors)")
          for type in Baseball.types {
            let lines = try #require(listed[type])
            #expect(!lines.isEmpty)
            #expect(try await bucket.exported(type) == lines)
            #expect(try first.count("fetched", of: type) == lines.count)
          }
        }
        // Once the server's clock is past the last write, a run is one request for each collection.
        var again = try await bucket.mirror()
        while try again.count("requests") != Baseball.types.count || again.count("fetched") != 0 {
          #expect(try again.count("inserted") + again.count("updated") + again.count("deleted") == 0)
          again = try await bucket.mirror()
        }
      }
    }

    @Test func mirrorsOnlyWhatIsNamed() async throws {
      try await MirroredBucket.with(["one", "two"]) { bucket in
        try await bucket.load("one", 3)
        try await bucket.load("two", 3)
        let outcome = try await bucket.mirror("--collection", "two")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.count("inserted", of: "two") == 3)
        #expect(try await bucket.exported("one").isEmpty)
      }
    }

    @Test func makesAStoreThatSQLiteReads() async throws {
      try await MirroredBucket.with(["my-games"]) { bucket in
        try await bucket.load("my-games", 12)
        #expect(try await bucket.mirror().status == 0)
        let shell = try RunningTool(
          executable: URL(filePath: "/usr/bin/env"),
          [
            "sqlite3", "-readonly", bucket.store,
            #"SELECT count(*), max(json_extract(payload, '$.number')) FROM "live_my-games""#,
          ], in: nil)
        #expect(await shell.outcome().lines == ["12|11"])
      }
    }

    @Test func aDryRunTellsWhatWouldChangeAndChangesNothing() async throws {
      try await MirroredBucket.with(["items"]) { bucket in
        try await bucket.load("items", 5)
        let before = try await bucket.mirror("--dry-run")
        #expect(before.status == 0, "\(before.errors)")
        #expect(try before.count("inserted") == 5)
        #expect(!FileManager.default.fileExists(atPath: bucket.store))

        #expect(try await bucket.mirror().count("inserted") == 5)
        let lines = try await bucket.exported("items")
        try await bucket.kinto.delete("items", "k0")
        try await bucket.kinto.put("items", "k1", "\"number\":100")
        let trial = try await bucket.mirror("--dry-run")
        #expect(try (trial.count("updated"), trial.count("deleted")) == (1, 1))
        #expect(try trial.json["dryRun"] as? Bool == true)
        #expect(try await bucket.exported("items") == lines)

        // The run does what the dry run reported.
        let real = try await bucket.mirror()
        #expect(try (real.count("updated"), real.count("deleted")) == (1, 1))
        #expect(try await bucket.exported("items") == bucket.listed("items"))
      }
    }

    @Test func massDeletionHasToBeAllowed() async throws {
      try await MirroredBucket.with(["items"]) { bucket in
        try await bucket.load("items", 150)
        #expect(try await bucket.mirror().count("inserted") == 150)
        try await bucket.kinto.send("DELETE", "/collections/items")
        try await bucket.kinto.send("PUT", "/collections/items")
        for options in [["--dry-run"], []] {
          let refused = try await MirroredBucket.tool.start(bucket.arguments(options)).outcome()
          #expect(refused.status == 0, "\(refused.errors)")
          #expect(try refused.json["refusedSweeps"] as? [String] == ["items"])
          #expect(refused.errors.contains("--allow-mass-deletion"))
          #expect(try await bucket.exported("items").count == 150)
        }
        let trial = try await bucket.mirror("--dry-run", "--allow-mass-deletion")
        #expect(try trial.count("swept") == 150)
        #expect(try await bucket.exported("items").count == 150)
        #expect(try await bucket.mirror("--allow-mass-deletion").count("swept") == 150)
        #expect(try await bucket.exported("items").isEmpty)
      }
    }

    @Test func aWatchFollowsWhatChangesUntilItIsTerminated() async throws {
      try await MirroredBucket.with(["items"]) { bucket in
        try await bucket.load("items", 3)
        let running = try MirroredBucket.tool.start(bucket.arguments(["--watch", "--poll-max", "2"]))
        await running.waitFor("3 inserted")
        try await bucket.kinto.put("items", "new", "\"number\":1")
        await running.waitFor("1 inserted")
        // A collection that did not exist at the start.
        try await bucket.kinto.send("PUT", "/collections/more")
        try await bucket.load("more", 4)
        // A poll may have occurred amid the four writes.
        await running.waitForErrors { $0.inserted == 8 }
        running.send(SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.count("inserted") == 8)
        #expect(try outcome.json["wasCancelled"] as? Bool == true)
        #expect(try await bucket.exported("items") == bucket.listed("items"))
      }
    }

    @Test func aWatchOutlivesAServerThatIsAway() async throws {
      try await withFolder { folder in
        let running = try MirroredBucket.tool.start([
          // Port 1 of this machine has no server.
          "--server", "http://127.0.0.1:1/v1", "--bucket", "b", "--collection", "items", "--watch", "--store",
          folder.path("m.sqlite"),
        ])
        await running.waitFor("the next poll is in")
        running.send(SIGINT)
        #expect(await running.outcome().status == 130)
      }
    }

    #if Postgres
      @Test(.enabled(if: ThrowawayCluster.isPossible))
      func aWatchOutlivesADatabaseThatIsAway() async throws {
        let cluster = try ThrowawayCluster()
        defer { cluster.stop() }
        let running = try MirroredBucket.tool.start([
          // Port 1 of this machine has no server.
          "--server", "http://127.0.0.1:1/v1", "--bucket", "b", "--collection", "items", "--watch",
          "--poll-max", "1", "--store", cluster.address,
        ])
        await running.waitFor("the next poll is in")
        cluster.stop()
        // The store gives the server up after a while.
        await running.waitForErrors { $0.contains(#/cannot be reached.*the next poll is in/#) }
        running.send(SIGINT)
        #expect(await running.outcome().status == 130)
      }
    #endif

    @Test func ctrlCKeepsWhatIsThereAndTheNextRunGoesOn() async throws {
      try await MirroredBucket.with(["items"]) { bucket in
        try await bucket.load("items", 600)
        let running = try MirroredBucket.tool.start(bucket.arguments(["--page-size", "2", "--log"]))
        await running.waitForErrors {
          $0.contains("page")
        } then: {
          running.send(SIGINT)
        }
        let stopped = await running.outcome()
        #expect(stopped.status == 130, "\(stopped.errors)")
        #expect(try stopped.json["wasCancelled"] as? Bool == true)
        let done = try stopped.count("inserted")
        #expect((1..<600).contains(done))
        let rest = try await bucket.mirror()
        #expect(rest.status == 0)
        #expect(try rest.count("inserted") == 600 - done)
        #expect(try rest.count("fetched") == 600 - done)
        #expect(try await bucket.exported("items") == bucket.listed("items"))
      }
    }

    @Test func credentialsMayComeFromTheEnvironmentAndAreNeverRepeated() async throws {
      try await MirroredBucket.with(["items"]) { bucket in
        let options = [
          "--server", bucket.kinto.server, "--bucket", bucket.kinto.bucket, "--store", bucket.store,
        ]
        let tool = MirroredBucket.tool.executable
        let known = try RunningTool(
          executable: tool, options, in: nil, environment: ["SYNC_MIRROR_AUTH": "tests:secret"])
        let outcome = await known.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let stranger = try RunningTool(
          executable: tool, options + ["--log", "--json"], in: nil,
          environment: ["SYNC_MIRROR_AUTH": "stranger:hunter2"])
        let refused = await stranger.outcome()
        #expect(refused.status == 1)
        #expect(try refused.json["error"] as? String == "permissionDenied")
        #expect(!(refused.output + refused.errors).contains("hunter2"))
      }
    }
  }
#endif
