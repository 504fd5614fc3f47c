#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Testing

  /// Two stores with edits of their own, and another client that edits at the server.
  @Suite(
    "sync-mirror --push", .enabled(if: RealKinto.address != nil, "Tests/run --all starts the server."),
    .serialized,
    .timeLimit(.minutes(20)))
  struct MirrorPushTests {
    /// Runs a body with two mirrors of one bucket, both up to date.
    private func withTwo(
      _ body: (MirroredBucket, MirroredBucket) async throws -> Void
    ) async throws {
      try await MirroredBucket.with(["items"]) { one in
        try await one.load("items", 12)
        try await withFolder { folder in
          let other = MirroredBucket(kinto: one.kinto, folder: folder)
          for mirror in [one, other] { #expect(try await mirror.mirror().count("inserted") == 12) }
          try await body(one, other)
        }
      }
    }

    /// Checks that a mirror equals the server, and that no edit is pending.
    private func expectEqual(_ mirrors: MirroredBucket...) async throws {
      for mirror in mirrors {
        #expect(try await mirror.exported("items") == mirror.listed("items"))
        #expect(try await mirror.inspect("outbox").json["pending"] as? Int == 0)
      }
    }

    @Test func twoMirrorsAndAnEditorAtTheServerConverge() async throws {
      try await withTwo { one, other in
        try await one.edit("k1", "--set", "number=100")
        try await one.edit("new", "--set", "number=1000")
        try await other.edit("k2", "--set", "number=200")
        try await other.edit("k3", "--delete")
        try await one.kinto.put("items", "k4", "\"number\":400")
        try await one.kinto.delete("items", "k5")
        // The tool pushes edits only with the option.
        #expect(try await one.mirror().json["waitingEdits"] as? Int == 2)
        #expect(try await one.numbers()["k1"] == 1)

        for mirror in [one, other, one] {
          let outcome = try await mirror.mirror("--push")
          #expect(outcome.status == 0, "\(outcome.errors)")
        }
        try await expectEqual(one, other)
        let unedited = Dictionary(uniqueKeysWithValues: (6..<12).map { ("k\($0)", $0) })
        let edited = ["k0": 0, "k1": 100, "k2": 200, "k4": 400, "new": 1000]
        #expect(try await one.numbers() == unedited.merging(edited) { $1 })
      }
    }

    @Test func aStaleEditEndsAsALoggedConflict() async throws {
      try await withTwo { one, other in
        try await other.edit("k1", "--set", "number=222")
        try await one.edit("k1", "--set", "number=111")
        let first = try await one.mirror("--push")
        #expect(try first.pushed("accepted") == 1)
        // The edit was made on the base from before the other one was accepted.
        let second = try await other.mirror("--push")
        #expect(second.status == 0, "\(second.errors)")
        #expect(try second.pushed("conflicts") == 1)
        try await expectEqual(one, other)
        #expect(try await one.numbers()["k1"] == 111)
        let log = try await other.inspect("conflicts").output
        #expect(log.contains(#"\"number\":222"#) && log.contains(#"\"number\":111"#))
      }
    }

    @Test func aLaterEditOnAnOlderCopyWinsAndReachesAll() async throws {
      try await withTwo { one, other in
        try await one.edit("k1", "--set", "number=111")
        #expect(try await one.mirror("--push").pushed("accepted") == 1)
        try await other.edit("k1", "--set", "number=222")
        #expect(try await other.mirror("--push").status == 0)
        #expect(try await one.mirror("--push").status == 0)
        try await expectEqual(one, other)
        #expect(try await one.numbers()["k1"] == 222)
        #expect(try await other.inspect("conflicts").json["conflicts"] as? Int == 1)
      }
    }

    @Test func aDryRunSendsNothing() async throws {
      try await withTwo { one, _ in
        try await one.edit("k1", "--set", "number=111")
        let trial = try await one.mirror("--push", "--dry-run")
        #expect(trial.status == 0, "\(trial.errors)")
        #expect(try trial.json["waitingEdits"] as? Int == 1)
        #expect(try await one.numbers()["k1"] == 1)
        #expect(try await one.inspect("outbox").json["pending"] as? Int == 1)
      }
    }

    @Test func whatTheServerRefusesStaysWithItsReason() async throws {
      try await withTwo { one, _ in
        try await one.edit("no id of Kinto's", "--set", "number=1")
        try await one.edit("k1", "--set", "number=111")
        let outcome = try await one.mirror("--push")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try (outcome.pushed("accepted"), outcome.pushed("refused")) == (1, 1))
        let outbox = try await one.inspect("outbox")
        #expect(try outbox.json["refused"] as? Int == 1)
        let entries = try outbox.json["entries"] as? [[String: Any]] ?? []
        #expect(entries.contains { ($0["reason"] as? String)?.contains("400") == true })
      }
    }

    @Test func whatIsRefusedCanBeRetriedChangedDeletedOrGivenUp() async throws {
      try await withTwo { one, _ in
        let keys = ["a/retried", "a/changed", "a/deleted", "a/given up"]
        for key in keys { try await one.edit(key, "--set", "number=1") }
        let first = try await one.mirror("--push")
        #expect(first.status == 1, "The server took nothing.")
        #expect(try first.pushed("refused") == 4)
        #expect(try await one.refusedKeys() == Set(keys))

        try await one.edit("a/retried", "--retry")
        try await one.edit("a/changed", "--set", "number=2")
        try await one.edit("a/deleted", "--delete")
        try await one.edit("a/given up", "--discard")
        #expect(try await one.refusedKeys().isEmpty)
        #expect(try await one.inspect("outbox").json["pending"] as? Int == 2)
        let held = try await one.exported("items").joined()
        #expect(held.contains("a/retried") && held.contains("a/changed"))
        #expect(!held.contains("a/deleted") && !held.contains("a/given up"))

        let second = try await one.mirror("--push")
        #expect(try second.pushed("refused") == 2)
        #expect(try await one.refusedKeys() == ["a/retried", "a/changed"])
        // A refused edit is not sent again by itself.
        let third = try await one.mirror("--push")
        #expect(try third.pushed("refused") == 0)
        #expect(try third.json["waitingEdits"] as? Int == 2)
        for key in ["a/retried", "a/changed"] { try await one.edit(key, "--discard") }
        try await expectEqual(one)
      }
    }

    /// A fifth of all requests fail, some after their effect at the server.
    @Test(arguments: Seeds.all)
    func editsReachTheServerOnceThroughFaults(_ seed: UInt64) async throws {
      try await MirroredBucket.with(["items"]) { bucket in
        try await bucket.load("items", 30)
        try await FaultProxy.with(server: bucket.kinto.server, seed: seed, share: 0.2, sparing: [.stall]) {
          proxy in
          // The same address each time, because another one would be another remote.
          let arguments =
            ["--server", proxy.address] + bucket.arguments(["--push", "--page-size", "10"]).dropFirst(2)
          for _ in 0..<5 where try await MirroredBucket.tool.start(arguments).outcome().status == 0 { break }
          for number in 0..<6 { try await bucket.edit("k\(number)", "--set", "number=\(1000 + number)") }
          for _ in 0..<3 { _ = try await MirroredBucket.tool.start(arguments).outcome() }
          proxy.stopSpoiling()
          #expect(try await MirroredBucket.tool.start(arguments).outcome().status == 0)
        }
        try await expectEqual(bucket)
        let numbers = try await bucket.numbers()
        #expect((0..<6).map { numbers["k\($0)"] } == (1000..<1006).map { $0 })
        // The echo of an own edit is not a conflict.
        #expect(try await bucket.inspect("conflicts").json["conflicts"] as? Int == 0)
      }
    }
  }

  extension MirroredBucket {
    /// Edits a record in the store.
    fileprivate func edit(_ id: String, _ options: String...) async throws {
      let arguments = ["edit", "--store", store, "--type", "items", "--id", id] + options
      let outcome = try await Tool(name: "sync-inspect").start(arguments).outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// The keys of the edits that the server refused with a reason.
    fileprivate func refusedKeys() async throws -> Set<String> {
      let entries = try await inspect("outbox").json["entries"] as? [[String: Any]] ?? []
      return Set(
        entries.compactMap { entry in
          guard entry["state"] as? String == "refused", (entry["reason"] as? String)?.isEmpty == false else {
            return nil
          }
          return entry["key"] as? String
        })
    }

    /// The number in each of the server's records.
    ///
    /// A listing also has the server's times, with any digits.
    fileprivate func numbers() async throws -> [String: Int] {
      try await kinto.listing("items").compactMapValues { record in
        (try JSONSerialization.jsonObject(with: Data(record.utf8)) as? [String: Any])?["number"] as? Int
      }
    }

    /// Runs `sync-inspect` for one JSON object.
    fileprivate func inspect(_ command: String) async throws -> Tool.Outcome {
      try await Tool(name: "sync-inspect").run(command, "--store", store, "--json")
    }
  }

  extension Tool.Outcome {
    /// A count of the local edits.
    fileprivate func pushed(_ name: String) throws -> Int {
      (try json["pushed"] as? [String: Any])?[name] as? Int ?? -1
    }
  }
#endif
