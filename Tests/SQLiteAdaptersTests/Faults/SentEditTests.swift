#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import Testing

  @testable import SQLiteAdapters

  @Suite("An edit that reached the remote before the power failed")
  struct SentEditTests {
    @Test func isNotTakenForUnsentByADeletion() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let disk = FaultyDisk(directory)
      let clock = ManualClock()
      let remote = InMemoryRemote(clock: clock)
      let schema = try SyncSchema(Entity("meters", stamping: .none))
      func opened() async throws -> (SQLiteStore, SyncEngine) {
        let store = try await SQLiteStore.open(
          path: directory.file("store.db"), configuration: .init(readerCount: 1, executor: .inline))
        let engine = try await SyncEngine(
          schema: schema, store: store, source: remote, sink: remote, clock: clock,
          options: SyncOptions(retry: RetryPolicy(attempts: 1)), random: RepeatedNumber())
        return (store, engine)
      }
      let id = RecordID(type: "meters", key: "m")
      let (first, engine) = try await opened()
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(id) { $0["name"] = Array(#""ours""#.utf8)[...] }
      }
      remote.onPush = { _ in disk.expect(.init(failure: .dark, call: 1)) }
      _ = try? await engine.sync()
      await first.close()
      #expect(disk.failures > 0)
      var random = SplitMix64(seed: 1)
      try disk.restorePower(&random)
      remote.onPush = nil
      #expect(remote.records(of: "meters").map(\.key) == ["m"])

      let (second, later) = try await opened()
      try await later.edits.perform { (batch) throws(SyncError) in try batch.delete(id) }
      _ = try await later.sync()
      _ = try await later.sync()
      #expect(remote.records(of: "meters").isEmpty)
      let shown = try await second.read { (snapshot) throws(SyncError) in
        try snapshot.records(Query("meters"))
      }
      #expect(shown.isEmpty)
      await second.close()
    }
  }
#endif
