#if SQLite
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  @Suite("Local edits in SQLite", .timeLimit(.minutes(10)))
  struct LocalEditTests {
    private let games = Entity("games")

    private func edit(_ physical: Int64, _ json: String = "{}") -> Edit {
      Edit(
        .upsert(Payload(Array(json.utf8)), schemaVersion: 1),
        stamp: EditStamp(physical: Timestamp(microseconds: physical), replica: "r"))
    }

    @Test func areOnTheDiskWhenTheyAreCommitted() async throws {
      try await withStore { store, _ in
        let lease = try await store.acquireLease(for: .seconds(60))
        for (authority, mode) in [(.app, 2), (.lease(lease), 1), (.app, 2)] as [(WriteAuthority, Int64)] {
          try await store.write(authority) { transaction throws(SyncError) in
            try transaction.setValue([1], forKey: "k")
          }
          #expect(try await store.number("PRAGMA synchronous") == mode)
        }
        // Writes to the lease alone need not wait for the disk either.
        try await store.release(lease)
        #expect(try await store.number("PRAGMA synchronous") == 1)
      }
    }

    @Test func thatWereSentAsTheyAreAreKeptOnce() async throws {
      try await withStore { store, _ in
        var entry = OutboxEntry(
          id: RecordID(type: "games", key: "g"), edit: edit(1, #"{"v":1}"#), base: .none,
          sent: edit(1, #"{"v":1}"#))
        for (sent, kept) in [(edit(1, #"{"v":1}"#), 0), (edit(1, "{}"), 1), (nil, 0)] as [(Edit?, Int64)] {
          entry.sent = sent
          try await store.write(.app) { [entry] transaction throws(SyncError) in
            try transaction.queue([entry])
          }
          #expect(
            try await store.number("SELECT count(*) FROM outbox WHERE sent_payload IS NOT NULL") == kept)
        }
      }
    }

    /// Many entries are written by other statements than one.
    @Test(arguments: [16, 40, 53])
    func areKeptAndCountedHoweverManyComeAtOnce(_ count: Int) async throws {
      try await withStore { store, _ in
        func entry(_ number: Int, _ physical: Int64) -> OutboxEntry {
          let id = RecordID(type: number % 32 == 31 ? "teams" : "games", key: "g\(number)")
          let tombstone = Tombstone(id: id, version: .unversioned)
          let base = number % 3 == 0 ? OutboxEntry.Base.none : .deleted(tombstone)
          let edit = number % 2 == 0 ? edit(physical) : Edit(.deletion, stamp: edit(physical).stamp)
          return OutboxEntry(id: id, edit: edit, base: base)
        }
        // All entries are new; some replace others; all do; one new entry occurs twice.
        let batches = [
          (0..<count).map { entry($0, 1) },
          (count - 8..<2 * count).map { entry($0, 2) },
          (0..<2 * count).map { entry($0, 3) },
          [entry(2 * count, 4)] + (2 * count..<3 * count).map { entry($0, 5) },
        ]
        var known: [RecordID: OutboxEntry] = [:]
        for batch in batches {
          for entry in batch { known[entry.id] = entry }
          try await store.write(.app) { transaction throws(SyncError) in try transaction.queue(batch) }
          for type in ["games", "teams"] as [RecordType] {
            let (kept, number) = try await store.read { snapshot throws(SyncError) in
              (try snapshot.outbox(type, after: nil, limit: 999), try snapshot.outboxCount(type))
            }
            #expect(Set(kept) == Set(known.values.filter { $0.id.type == type }))
            #expect(number == kept.count)
          }
        }
      }
    }

    @Test func areListedByTheirIndexes() async throws {
      try await withStore { store, directory in
        let reader = try Connection(
          uri: "file:" + directory.file("store.db"), flags: 1, busyTimeout: .seconds(1))
        let statements = [
          (OutboxRows.ofRecord, "outbox.record"), (OutboxRows.ofType, "outbox.stamp"),
          (OutboxRows.firstOfType, "outbox.stamp"), (OutboxRows.count, "PRIMARY KEY"),
          (OutboxRows.change, "outbox.record"),
          (OutboxRows.remove, "outbox.record"), (ConflictRows.all, "PRIMARY KEY"),
          (ConflictRows.ofType, "conflicts.type"), (ConflictRows.remove, "conflicts.settled_at"),
        ]
        for (sql, index) in statements {
          var steps: [String] = []
          try reader.forEachRow("EXPLAIN QUERY PLAN " + sql) { steps.append($0.text(3)) }
          #expect(steps.count == 1 && steps[0].contains(index), "\(sql): \(steps)")
        }
      }
    }

    @Test func thatMakeNoSenseAreToldOf() async throws {
      try await withStore { store, _ in
        let entry = OutboxEntry(id: RecordID(type: "games", key: "g"), edit: edit(1), base: .none)
        for column in ["base", "sent", "state"] {
          try await store.write(.app) { transaction throws(SyncError) in try transaction.queue([entry]) }
          try await store.execute("UPDATE outbox SET \(column) = 'nonsense'")
          let error = await #expect(throws: SyncError.self) {
            try await store.read { snapshot throws(SyncError) in try snapshot.outbox(for: [entry.id]) }
          }
          #expect(error?.code == .storeUnreadable)
        }
      }
    }
  }
#endif
