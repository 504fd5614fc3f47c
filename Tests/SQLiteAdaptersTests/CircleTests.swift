#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SQLiteAdapters
  import Testing

  @Suite("A circle of references in SQLite", .timeLimit(.minutes(10)))
  struct CircleTests {
    @Test func isShownAndGoesWhole() async throws {
      try await withStore { store, _ in
        let clock = ManualClock()
        let remote = InMemoryRemote(clock: clock)
        let nodes = Entity("nodes", references: [.to("nodes", by: "next")])
        let engine = try await SyncEngine(
          schema: SyncSchema(nodes), store: store, source: remote, clock: clock,
          options: SyncOptions(pageSize: 2))
        // 7 is a number, and still refers to a record.
        let next = ["1": "2", "2": "3", "3": "7", "7": "1", "tail": "7"]
        for (key, target) in next {
          remote.upsert("nodes", key, #"{"id":"\#(key)","next":\#(target)}"#)
        }
        #expect(try await engine.sync()["nodes"].inserted == 5)
        for key in ["1", "2", "3", "7"] { remote.delete("nodes", key) }
        #expect(try await engine.sync()["nodes"].deferred == 4)
        remote.delete("nodes", "tail")
        let counts = try await engine.sync()["nodes"]
        #expect(counts.deleted == 1 && counts.replayed == 4)
        let left = try await store.read { (snapshot) throws(SyncError) in
          (try snapshot.count(Query("nodes")), try snapshot.withheldCounts("nodes"))
        }
        #expect(left.0 == 0 && left.1.isEmpty)
      }
    }
  }
#endif
