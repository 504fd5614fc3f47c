#if SQLite
  import CanonicalSync
  import CanonicalSyncCSQLite
  import InMemoryAdapters
  import Testing

  @testable import SQLiteAdapters

  @Suite("The checksums of a store's rows", .timeLimit(.minutes(10)))
  struct RowChecksumTests {
    private static func findings(_ store: SQLiteStore) async throws -> [StoreFinding] {
      try await store.formatFindings(limit: 100).filter {
        $0.detail.contains("as the library has written it")
      }
    }

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
      #expect(try await Self.findings(store) == [])
      // A copy, a pending deletion, a refused edit that was sent, and one that leaves a record.
      let rows: [(table: String, type: RecordType, key: String, columns: [String])] = [
        ("rows_games", "games", "g9", EntityTable.checkedColumns),
        ("rows_games", "games", "g1", EntityTable.checkedColumns),
        ("outbox", "teams", "t5", OutboxRows.names), ("outbox", "teams", "t3", OutboxRows.names),
        ("outbox", "games", "g1", OutboxRows.names),
      ]
      for (table, type, key, columns) in rows {
        for column in columns where column != "id" && column != "type" {
          let row = "\(table) WHERE id = '\(key)'"
          try await store.execute("CREATE TABLE kept AS SELECT \(column) AS value FROM \(row)")
          try await store.execute("UPDATE \(table) SET \(column) = \(Self.other(column)) WHERE id = '\(key)'")
          let found = try await Self.findings(store)
          #expect(found.count == 1, "\(table).\(column)")
          #expect(found.first?.type == type && found.first?.key == key, "\(table).\(column)")
          try await store.execute(
            "UPDATE \(table) SET \(column) = (SELECT value FROM kept) WHERE id = '\(key)'")
          try await store.execute("DROP TABLE kept")
          #expect(try await Self.findings(store) == [], "\(table).\(column)")
        }
      }
      // The values of one row in another one, with their checksum.
      try await store.execute(
        """
        UPDATE rows_games SET (version_epoch, version_sequence, version_modified_at, payload, checksum) =
          (SELECT version_epoch, version_sequence, version_modified_at, payload, checksum FROM rows_games WHERE id = 'g8')
        WHERE id = 'g9'
        """)
      #expect(try await Self.findings(store).map(\.key) == ["g9"])
      await store.close()
    }

    @Test func dependOnTypesAndPlaces() throws {
      let connection = try Connection(uri: "file::memory:", flags: SQLITE_OPEN_READWRITE, busyTimeout: .zero)
      let values = [
        "", "1", "2", "1, 2", "2, 1", "NULL, 1", "NULL, NULL, 1", "1, NULL, 2", "'1'", "x'31'", "1.0", "2.0",
        "''",
        "x''", "x'00'", "x'0000'", "'a', 'b'", "'ab', ''", "'', 'ab'", "zeroblob(16)", "zeroblob(17)",
        "-9223372036854775808", "9223372036854775807",
      ]
      var seen: Set<Int64?> = []
      for value in values { seen.insert(try connection.value("SELECT \(RowChecksum.of([value]))")) }
      #expect(seen.count == values.count)
      #expect(try connection.value("SELECT \(RowChecksum.of(["1", "NULL"])) = \(RowChecksum.of(["1"]))") == 1)
      // Each bit, in blobs with and without a rest.
      for count in Array(0...70) + [350, 4096] {
        var random = SplitMix64(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        func checksum(_ bytes: [UInt8]) -> Int64 {
          var checksum = RowChecksum()
          bytes.withUnsafeBytes { checksum.add(blob: $0) }
          return checksum.value
        }
        let intact = checksum(bytes)
        for place in bytes.indices {
          for bit in 0..<8 {
            var damaged = bytes
            damaged[place] ^= 1 << UInt8(bit)
            #expect(checksum(damaged) != intact, "\(count), \(place), \(bit)")
          }
        }
        // A line that always gives the same bit.
        if count > 0 { #expect(checksum(bytes.map { $0 ^ 0x80 }) != intact, "\(count)") }
      }
    }

    /// Every row that is written has its checksum, whichever statement wrote it.
    @Test func areSetByEachWrite() async throws {
      let games = Entity("games", naturalKey: NaturalKey("name"), indexes: ["date"])
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        func check(_ what: String) async throws {
          #expect(try await Self.findings(store) == [], "\(what)")
          for table in ["rows_games", "outbox"] {
            let unchecked = "SELECT count(*) FROM \(table) WHERE checksum IS NULL"
            #expect(try await store.number(unchecked) == 0, "\(what), \(table)")
          }
        }
        func write(_ what: String, _ fill: @Sendable @escaping (inout StoreChanges) -> Void) async throws {
          try await store.write(.app) { transaction throws(SyncError) in
            var changes = StoreChanges()
            fill(&changes)
            // Known rows are addressed by their numbers.
            _ = try transaction.states(of: changes.put + changes.versions)
            try transaction.apply(changes)
          }
          try await check(what)
        }
        let tags: [String?] = [nil, "a", nil, nil, "b"]
        let copies = try (10..<60).map {
          try copy(games, "k\($0)", #"{"name":"N\#($0)","date":\#($0)}"#, version: 1, tag: tags[$0 % 5])
        }
        try await write("many") { $0.put = copies }
        let others = try (60..<110).map { number in
          let json = #"{"name":"N\#(number)"}"#
          let made = try copy(games, "k\(number)", json, version: Int64(number), tag: number < 80 ? nil : "t")
          return Record(
            id: made.id,
            version: Version(
              epoch: Int64(number / 70), sequence: made.version.sequence, modifiedAt: made.version.modifiedAt),
            entityTag: made.entityTag, schemaVersion: 1 + number % 2, payload: made.payload,
            fields: made.fields)
        }
        try await write("many that are unlike") { $0.put = others }
        let newer = try (10..<14).map {
          try copy(games, "k\($0)", #"{"name":"M\#($0)"}"#, version: 2, tag: "c")
        }
        try await write("replaced") { $0.put = newer }
        try await write("one by one") { changes in
          changes.put = [newer[2], others[3], copies[9]]
          changes.put.swapAt(0, 2)
        }
        let touched = try (20..<24).map { try copy(games, "k\($0)", #"{"x":1}"#, version: 3, tag: "d") }
        try await write("touched") { $0.versions = touched }
        try await store.write(.app) { transaction throws(SyncError) in try transaction.updateVersions(touched)
        }
        try await check("touched by id")
        let tombstones = ["k30", "k31", "never"].map {
          Tombstone(
            id: RecordID(type: "games", key: $0),
            version: Version(sequence: 4, modifiedAt: Timestamp(milliseconds: 4)), entityTag: "e")
        }
        try await write("deleted") { $0.deleted = tombstones }
        try await store.write(.app) { transaction throws(SyncError) in
          _ = try transaction.states(of: Array(copies[22...23]))
          var changes = StoreChanges()
          changes.deleted = [Tombstone(id: copies[22].id, version: copies[22].version)]
          changes.queued = [
            OutboxEntry(
              id: copies[22].id,
              edit: Edit(.deletion, stamp: EditStamp(physical: Timestamp(microseconds: 1))),
              base: .copy(copies[22]))
          ]
          try transaction.apply(changes)
        }
        try await check("deleted for now")
      }
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
          #expect(try await Self.findings(store) == [], "\(what)")
          #expect(
            try await store.number("SELECT count(*) FROM outbox WHERE checksum IS NULL") == 0, "\(what)")
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
        #expect(try await Self.findings(store).map(\.key) == ["k32"])
      }
    }
  }
#endif
