#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import Testing

  @testable import SQLiteAdapters

  /// Rows with values that the library never writes.
  ///
  /// Reading them is an error everywhere.
  @Suite("A store whose rows are damaged", .timeLimit(.minutes(10)))
  struct DamageTests {
    private func withEngine(
      _ body: (SyncEngine, SQLiteStore, InMemoryRemote, TemporaryDirectory) async throws -> Void
    ) async throws {
      try await withStore { store, directory in
        let clock = ManualClock()
        let remote = InMemoryRemote(clock: clock)
        for number in 0..<12 { remote.upsert("teams", "t\(number)", #"{"name":"T\#(number % 4)"}"#) }
        let teams = Entity("teams", references: [.to("teams", by: "above")], naturalKey: NaturalKey("name"))
        let engine = try await SyncEngine(
          schema: SyncSchema(teams), store: store, source: remote, sink: remote, clock: clock,
          options: SyncOptions(retry: RetryPolicy(attempts: 1)))
        _ = try await engine.sync()
        try await body(engine, store, remote, directory)
      }
    }

    private func failure(_ work: () async throws -> Void) async -> SyncError? {
      await #expect(throws: SyncError.self) { try await work() }
    }

    private func edit(_ engine: SyncEngine, _ keys: String...) async throws {
      for key in keys {
        try await engine.edits.perform { (batch) throws(SyncError) in
          try batch.set(RecordID(type: "teams", key: key)) { $0["note"] = [UInt8(ascii: "1")] }
        }
      }
    }

    // A repaired key would be another key. Deletions by it would remove no row, and the records
    // after it would be the same again.
    @Test func endsASweepOverAnIDThatIsNoText() async throws {
      for value in ["CAST(x'61ff62' AS TEXT)", "x'7431'"] {
        try await withEngine { engine, store, remote, _ in
          try await store.execute("UPDATE rows_teams SET id = \(value) WHERE id = 't1'")
          let error = await failure { _ = try await engine.resync("teams", allowingMassDeletion: true) }
          #expect(error?.code == .storeUnreadable, "\(value)")
          #expect(error?.message.contains("damaged") == true)
        }
      }
    }

    @Test func endsAWalkAlongAnOutboxInNoOrder() async throws {
      for value in ["'soon'", "x'01'"] {
        try await withEngine { engine, store, _, _ in
          // More than a portion, because a smaller one ends the walk.
          try await engine.edits.perform { (batch) throws(SyncError) in
            for number in 0..<500 {
              try batch.set(RecordID(type: "teams", key: "e\(number)")) { $0["note"] = [UInt8(ascii: "1")] }
            }
          }
          try await store.execute("UPDATE outbox SET physical = \(value)")
          let error = await failure { _ = try await engine.status() }
          #expect(error?.code == .storeUnreadable, "\(value)")
        }
      }
    }

    @Test(arguments: [
      "UPDATE outbox_counts SET entries = 9223372036854775807", "UPDATE outbox SET counter = 4294967296",
      "UPDATE outbox SET counter = -1", "UPDATE outbox SET attempts = 9223372036854775807",
      "UPDATE outbox SET attempts = -9223372036854775808",
      "INSERT INTO set_aside_counts VALUES ('teams', 'parked', 9223372036854775807), ('teams', 'hidden', 9223372036854775807)",
      "UPDATE state SET value = CAST(json_set(CAST(value AS TEXT), '$.lastPass', 9223372036854775807) AS BLOB) WHERE key GLOB 'checkpoint/*'",
      "UPDATE state SET value = CAST(json_set(CAST(value AS TEXT), '$.epoch', 9223372036854775807) AS BLOB) WHERE key GLOB 'checkpoint/*'",
      "UPDATE lease SET fence = 9223372036854775807", "UPDATE lease SET fence = -9223372036854775808",
    ])
    func refusesNumbersThatNothingIsCountedUpTo(_ damage: String) async throws {
      try await withEngine { engine, store, remote, _ in
        try await edit(engine, "t1")
        remote.behave(.fail(SyncError(.remoteUnavailable, during: "testing")), onNextPushes: 5)
        try await store.execute(damage)
        let error = await failure {
          // The epoch is read only when the remote was replaced.
          if damage.contains("epoch") { remote.wipe("teams") }
          _ = try await engine.resync("teams")
          _ = try await engine.sync()
          _ = try await engine.status()
        }
        #expect(error?.code == .storeUnreadable)
      }
    }

    /// The remote would list a record without a key to all clients.
    @Test func pushesNoEditOfNoRecord() async throws {
      try await withEngine { engine, store, remote, _ in
        try await edit(engine, "t1")
        try await store.execute("UPDATE outbox SET id = ''")
        #expect(await failure { _ = try await engine.sync() }?.code == .storeUnreadable)
        #expect(remote.records(of: "teams").allSatisfy { !$0.key.isEmpty })
      }
    }

    @Test(arguments: [0, -1, Int.min])
    func goesOnWithARebuildWhoseOptionsTakeUpNothing(_ count: Int) async throws {
      try await withEngine { engine, store, remote, _ in
        let options = RebuildOptions(recordsAtOnce: 2)
        _ = try await engine.rebuildDuplicates(of: "teams", version: 1, options: options)
        try await store.execute(
          """
          UPDATE state SET value = CAST(json_set(CAST(value AS TEXT), '$.options.recordsAtOnce', \(count)) AS BLOB) \
          WHERE key = 'rebuild/teams'
          """)
        remote.upsert("teams", "late", #"{"name":"T1"}"#)
        if count == 0 {
          #expect(try await engine.sync()["teams"].inserted == 1)
          #expect(try await store.number("SELECT count(*) FROM rows_teams WHERE payload IS NOT NULL") == 4)
        } else {
          #expect(await failure { _ = try await engine.sync() }?.code == .storeUnreadable)
        }
      }
    }

    @Test func refusesWhatIsFiledUnderAnotherRecordsKey() async throws {
      try await withEngine { engine, store, remote, _ in
        remote.upsert("teams", "child", #"{"above":"missing"}"#)
        _ = try await engine.sync()
        try await store.execute("UPDATE set_aside SET record_key = 'missing'")
        let id = RecordID(type: "teams", key: "child")
        #expect(await failure { _ = try await engine.explain(id) }?.code == .storeUnreadable)
      }
    }

    // A negative number of layout steps once crashed an array lookup.
    @Test(arguments: [-1, -2_147_483_648])
    func refusesALayoutBelowTheFirst(_ version: Int) async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      let store = try await SQLiteStore.open(path: path)
      try await store.execute("PRAGMA user_version = \(version)")
      await store.close()
      let error = await failure { _ = try await SQLiteStore.open(path: path) }
      #expect(error?.code == .storeUnreadable)
      #expect(error?.message.contains("damaged") == true)
    }

    // The fill state is stored under the column's spelling, which differs here from the spelling of
    // the lookup.
    @Test func endsAFillingInThatIsNeverNotedDown() async throws {
      try await withStore { store, _ in
        let clock = ManualClock()
        let remote = InMemoryRemote(clock: clock)
        for number in 0..<1200 { remote.upsert("teams", "t\(number)", #"{"name":"T\#(number)"}"#) }
        let schema = try SyncSchema(Entity("teams", naturalKey: NaturalKey("name")))
        let engine = try await SyncEngine(
          schema: schema, store: store, source: remote, clock: clock, options: SyncOptions(pageSize: 1000))
        _ = try await engine.sync()
        try await store.execute(
          "UPDATE fields SET filled_through = 0, name = ' ' || name WHERE name LIKE '{%'")
        let changed = try SyncSchema(Entity("teams", naturalKey: NaturalKey("name"), indexes: ["city"]))
        #expect(await failure { try await store.register(changed) }?.code == .storeUnreadable)
      }
    }
  }
#endif
