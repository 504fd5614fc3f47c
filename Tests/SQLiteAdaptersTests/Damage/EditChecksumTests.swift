#if SQLite
  import CanonicalSync
  import SyncAdapters
  import InMemoryAdapters
  import Testing

  @testable import SQLiteAdapters

  @Suite("The checksums of pending edits", .timeLimit(.minutes(10)))
  struct EditChecksumTests {
    /// Another value of the same type, as far as there is one.
    private static func other(_ column: String) -> String {
      """
      CASE typeof(\(column)) WHEN 'integer' THEN \(column) + 1 WHEN 'text' THEN \(column) || '.'
        WHEN 'blob' THEN CAST(CAST(\(column) AS TEXT) || ' ' AS BLOB) ELSE 1 END
      """
    }

    @Test func showEachChangedColumn() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      #expect(try await store.formatFindings(limit: 9) == [])
      // A refused edit that was sent, one that leaves a record, and a deletion.
      for (type, key) in [("teams", "t5"), ("teams", "t3"), ("games", "g1")] as [(RecordType, String)] {
        for column in OutboxRows.names where column != "id" && column != "type" {
          let row = "outbox WHERE id = '\(key)'"
          try await store.execute("CREATE TABLE kept AS SELECT \(column) AS value FROM \(row)")
          try await store.execute("UPDATE outbox SET \(column) = \(Self.other(column)) WHERE id = '\(key)'")
          let found = try await store.formatFindings(limit: 9)
          #expect(found.map(\.type) == [type] && found.map(\.key) == [key], "\(column)")
          try await store.execute(
            "UPDATE outbox SET \(column) = (SELECT value FROM kept) WHERE id = '\(key)'")
          try await store.execute("DROP TABLE kept")
          #expect(try await store.formatFindings(limit: 9) == [], "\(column)")
        }
      }
      await store.close()
    }

    /// Every edit that is written has its checksum. Sending hides no damage of the rest.
    @Test func areSetByEachWriteOfAnEdit() async throws {
      let games = Entity("games")
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        func stamp(_ number: Int64) -> EditStamp {
          EditStamp(physical: Timestamp(microseconds: number), counter: 1, replica: "r")
        }
        func entry(_ number: Int, _ change: (inout OutboxEntry) throws -> Void = { _ in }) throws
          -> OutboxEntry
        {
          let record = try copy(games, "k\(number)", #"{"n":\#(number)}"#, tag: number % 2 == 0 ? "t" : nil)
          var entry = OutboxEntry(
            id: record.id,
            edit: Edit(
              number % 3 == 0 ? .deletion : .upsert(record.payload, schemaVersion: 1),
              stamp: stamp(Int64(number))),
            base: number % 5 == 0
              ? .none
              : number % 5 == 1
                ? .deleted(Tombstone(id: record.id, version: record.version, entityTag: record.entityTag))
                : .copy(record))
          try change(&entry)
          return entry.withoutFields
        }
        func queue(_ what: String, _ entries: [OutboxEntry], readFirst: Bool = false) async throws {
          try await store.write(.app) { transaction throws(SyncError) in
            if readFirst { _ = try transaction.outbox("games", after: nil, limit: 100) }
            try transaction.queue(entries)
          }
          #expect(try await store.formatFindings(limit: 99) == [], "\(what)")
        }
        func sent(_ entry: inout OutboxEntry) {
          entry.sent = entry.edit
          entry.attempts += 1
        }
        try await queue("many", try (0..<40).map { try entry($0) })
        try await queue("sent", try (0..<20).map { try entry($0, sent) }, readFirst: true)
        try await queue("sent without knowing them", try (20..<30).map { try entry($0, sent) })
        try await queue(
          "of all kinds",
          try (0..<8).map { number in
            try entry(number) { entry in
              if number > 1 {
                entry.sent = Edit(.upsert(Payload([123, 125]), schemaVersion: 2), stamp: stamp(99))
              }
              if number > 2 { entry.sent = Edit(.deletion, stamp: stamp(98)) }
              if number > 3 { entry.state = .postponed(until: Timestamp(microseconds: 7)) }
              if number > 4 { entry.state = .refused(reason: "no", at: Timestamp(microseconds: 8)) }
              if number > 5 { entry.author = .rebuild(.init(lastWrite: stamp(5), pass: 3)) }
              if number > 6 { entry.leaves = [RecordID(type: "games", key: "other")] }
            }
          })
        try await queue(
          "sent again",
          try (0..<8).map { number in
            try entry(number) { entry in
              if number > 5 { entry.author = .rebuild(.init(lastWrite: stamp(5), pass: 3)) }
              if number > 6 { entry.leaves = [RecordID(type: "games", key: "other")] }
              sent(&entry)
            }
          }, readFirst: true)

        try await store.execute("UPDATE outbox SET base_sequence = 77 WHERE id = 'k32'")
        let read = try await store.read { snapshot throws(SyncError) in
          try snapshot.outbox(for: [RecordID(type: "games", key: "k32")])
        }
        try await store.write(.app) { transaction throws(SyncError) in
          var entry = try transaction.outbox(for: read.map(\.id))[0]
          entry.sent = entry.edit
          entry.state = .refused(reason: "no", at: Timestamp(microseconds: 1))
          try transaction.queue([entry])
        }
        #expect(
          try await store.number("SELECT count(*) FROM outbox WHERE refusal = 'no' AND id = 'k32'") == 1)
        #expect(try await store.formatFindings(limit: 99).map(\.key) == ["k32"])
      }
    }
  }
#endif
