#if SQLite && Postgres
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import Testing

  /// A whole store on its way to a database, killed again and again.
  @Suite("Moving a large store", .timeLimit(.minutes(60)))
  struct MovingHouseTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let database = environment["CANONICALSYNC_POSTGRESQL"]
    /// The number of records: `CANONICALSYNC_COPY`, or a million in a soak run, or 3,000.
    static let records =
      environment["CANONICALSYNC_COPY"].flatMap { Int($0) }
      ?? (environment["CANONICALSYNC_SOAK"] == nil ? 3000 : 1_000_000)

    @Test(.enabled(if: database != nil)) func nothingIsLostAndNothingIsFetchedAgain() async throws {
      let (records, edits) = (Self.records, Self.records / 100)
      let remote = InMemoryRemote()
      let schema = try SyncSchema(Entity("games", indexes: ["v"]))
      for number in 0..<records { remote.upsert("games", "g\(number)", #"{"v":\#(number),"name":"Game"}"#) }
      try await withFolder { folder in
        let old = folder.path("old.db")
        let new = "\(Self.database ?? "")?schema=copy_\(UUID().uuidString.lowercased().prefix(8))"
        let store = try await SQLiteStore.open(path: old)
        let engine = try await SyncEngine(schema: schema, store: store, source: remote)
        #expect(try await engine.sync().total.inserted == records)
        for start in stride(from: 0, to: edits, by: 500) {
          try await engine.edits.perform { (batch) throws(SyncError) in
            for number in start..<min(edits, start + 500) {
              let id = RecordID(type: "games", key: "g\(number * 100)")
              try batch.set(id) { $0["v"] = Array("-1".utf8)[...] }
            }
          }
        }
        await store.close()

        let before = try await story(of: old)
        let (tool, arguments) = (Tool(name: "sync-inspect"), ["move", "--from", old, "--to", new])
        var random = SplitMix64(seed: 7)
        var kills = 0
        while kills < 10 {
          // Each copy goes on where the one before was killed, and lives longer. One of a million
          // takes a minute.
          let pause = (kills + 1) * (20 + random.number(below: records / 250))
          if try await isKilled(tool, arguments, afterMilliseconds: pause) { kills += 1 } else { break }
        }
        let start = ContinuousClock.now
        let outcome = try await tool.start(arguments).outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(kills > 0)
        let last = ContinuousClock.now - start
        #expect(try await story(of: new) == before)

        // The checkpoint came along: a delta fetches what has changed.
        for number in 0..<1000 { remote.upsert("games", "g\(number * 2 + 1)", #"{"v":0}"#) }
        let moved = try await OpenedStore.open(new)
        let there = try await SyncEngine(schema: schema, store: moved.store, source: remote)
        let delta = try await there.sync().total
        #expect(delta.fetched == 1000 && delta.updated == 1000)
        await moved.close()
        print("\(records) records, \(edits) edits, \(kills) kills; the last copy took \(last)")
      }
    }

    /// Runs a tool, and kills it after a time; false if it ended before.
    ///
    /// The shell measures the time: other tests may keep all threads of this process busy.
    private func isKilled(
      _ tool: Tool, _ arguments: [String], afterMilliseconds pause: Int
    ) async throws -> Bool {
      let script = #"pause=$1; shift; "$@" & sleep "$pause"; kill -KILL $!; wait $!"#
      let running = try RunningTool(
        executable: URL(filePath: "/bin/bash"),
        ["-c", script, "bash", "\(Double(pause) / 1000)", tool.executable.path] + arguments, in: nil)
      return await running.outcome().status == 128 + SIGKILL
    }

    /// The sums of all that the tool prints of a store, and its kept values.
    private func story(of place: String) async throws -> [String] {
      var story: [String] = []
      for command in ["export --type games", "outbox", "conflicts", "quarantine"] {
        let tool = Tool(name: "sync-inspect").executable.path
        let running = try RunningTool(
          executable: URL(filePath: "/bin/bash"),
          ["-c", "set -o pipefail; '\(tool)' \(command) --store '\(place)' | cksum"], in: nil)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        story.append(outcome.output)
      }
      let opened = try await OpenedStore.open(place, isReadOnly: true)
      story += try await opened.store.read { (snapshot) throws(SyncError) in
        var kept = [try snapshot.storeIdentity()]
        for key in try snapshot.keys(withPrefix: "", after: nil, limit: 1000) {
          kept.append("\(key) \(String(decoding: try snapshot.value(forKey: key) ?? [], as: UTF8.self))")
        }
        return kept
      }
      await opened.close()
      return story
    }
  }
#endif
