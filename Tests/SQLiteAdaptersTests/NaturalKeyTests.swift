#if SQLite
  import CanonicalSync
  import SyncAdapters
  import Foundation
  import SyncMaintenance
  import Testing

  @testable import SQLiteAdapters

  @Suite("Natural keys in SQLite", .timeLimit(.minutes(10)))
  struct NaturalKeyTests {
    private let plain = Entity("meters")
    private let keyed = Entity(
      "meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric), indexes: ["v"])

    private func fill(_ store: SQLiteStore, _ entity: Entity, count: Int) async throws {
      let records = try (0..<count).map { number in
        try copy(entity, "m\(number)", "{\"mac\":\"A:\(number / 2)\",\"v\":1}")
      }
      try await store.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
    }

    private func duplicates(_ store: SQLiteStore, limit: Int = 5000) async throws -> [[String]] {
      try await store.read { snapshot throws(SyncError) in
        let keys = try snapshot.duplicates("meters", after: nil, limit: limit).map(\.key)
        return try snapshot.records(ofType: "meters", withNaturalKeys: keys).map { $0.map(\.id.key) }
      }
    }

    @Test(arguments: [0, 1, 499, 500, 501, 1234])
    func areFilledInWhateverTheNumberOfRows(_ count: Int) async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(plain))
        try await fill(store, plain, count: count)
        try await store.register(try SyncSchema(keyed))
        #expect(try await store.number("SELECT count(*) FROM fields WHERE filled_through IS NOT NULL") == 0)
        #expect(
          try await store.number("SELECT count(*) FROM rows_meters WHERE f2 IS NOT NULL") == Int64(count))
        #expect(try await duplicates(store).count == count / 2)
      }
    }

    @Test func areFoundByTheIndex() async throws {
      try await withStore { store, directory in
        try await store.register(try SyncSchema(keyed))
        try await fill(store, keyed, count: 3)
        let reader = try Connection(
          uri: "file:" + directory.file("store.db"), flags: 1, busyTimeout: .seconds(1))
        let column = DerivedColumns.Column(
          try #require(StoredNaturalKey(keyed)), name: "f2", isFilled: true)
        let table = EntityTable(keyed, DerivedColumns(of: keyed, fields: [], naturalKeys: [column]))
        for (sql, way) in [
          (NaturalKeyRows.records(in: table, whose: "f2", keys: "f2"), "USING INDEX rows_meters.f2"),
          (NaturalKeyRows.records(in: table, whose: "row", keys: "f2"), "USING INTEGER PRIMARY KEY"),
          (NaturalKeyRows.keys(in: table, by: "f2"), "USING COVERING INDEX rows_meters.f2"),
        ] {
          var steps: [String] = []
          try reader.forEachRow("EXPLAIN QUERY PLAN " + sql) { steps.append($0.text(3)) }
          let tables = steps.filter { $0.contains("rows_meters") }
          #expect(!tables.isEmpty)
          #expect(tables.allSatisfy { $0.contains(way) }, "\(steps)")
          #expect(!steps.contains { $0.contains("USE TEMP B-TREE") }, "\(steps)")
        }
      }
    }

    @Test func leadToTheRowsThatAreDeletedNext() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(keyed))
        try await fill(store, keyed, count: 6)
        let deleted = try await store.write(.app) { transaction throws(SyncError) in
          let keys = try transaction.duplicates("meters", after: nil, limit: 9).map(\.key)
          let groups = try transaction.records(ofType: "meters", withNaturalKeys: keys.reversed())
          // A record found in between, an unknown one, and one before the last deleted record.
          let ids = [groups[1][1].id, RecordID(type: "meters", key: "new"), groups[0][0].id, groups[2][1].id]
          let version = Version(modifiedAt: Timestamp(milliseconds: 9))
          try transaction.delete(ids.map { Tombstone(id: $0, version: version) })
          return ids.map(\.key)
        }
        #expect(deleted == ["m3", "new", "m4", "m1"])
        let rest = try await store.read { snapshot throws(SyncError) in
          let states = try deleted.map { (key) throws(SyncError) in
            try snapshot.state(of: RecordID(type: "meters", key: key))
          }
          return (try snapshot.records(Query("meters")).map(\.id.key), states.map { $0?.isDeleted })
        }
        #expect(rest.0 == ["m0", "m2", "m5"])
        #expect(rest.1 == [true, true, true, true])
        #expect(try await duplicates(store) == [])
      }
    }

    @Test func stayInTheIndexWhileTheirRecordsDeletionIsPending() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(keyed))
        try await fill(store, keyed, count: 6)
        let deleted = try await store.write(.app) { transaction throws(SyncError) in
          let keys = try transaction.duplicates("meters", after: nil, limit: 9).map(\.key)
          let losers = try transaction.records(ofType: "meters", withNaturalKeys: keys).map { $0[0] }
          let tombstones = losers.map { Tombstone(id: $0.id, version: $0.version) }
          try transaction.apply {
            $0.deleted = tombstones
            $0.queued = losers.map {
              OutboxEntry(
                id: $0.id, edit: Edit(.deletion, stamp: EditStamp(physical: Timestamp(milliseconds: 1))),
                base: .none)
            }
          }
          return tombstones
        }
        let keys = "SELECT count(*) FROM rows_meters WHERE f2 IS NOT NULL"
        let contents = "SELECT count(*) FROM rows_meters WHERE payload IS NOT NULL OR f0 IS NOT NULL"
        #expect(try await store.number(keys) == 6)
        #expect(try await store.number(contents) == 3, "No other data of them remains.")
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.delete(Array(deleted.dropLast()))
        }
        #expect(try await store.number(keys) == 4, "A settled deletion needs no keys.")
        // The remote has the record again, in a state that cannot be shown.
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.dequeue(deleted.map(\.id))
        }
        #expect(try await store.number(keys) == 3, "Nor does one that is settled without a new state.")
        #expect(try await StoreVerification(of: store).run().findings.isEmpty)
      }
    }

    @Test func leadToTheirRowsInWhateverOrderTheyCame() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(keyed))
        let copies = try ["c", "a", "d", "b"].map { try copy(keyed, $0, #"{"mac":"same"}"#) }
        let key = try #require(keyed.naturalKey(of: copies[0]))
        let rest = try await store.write(.app) { transaction throws(SyncError) in
          for copy in copies { try transaction.put([copy]) }
          let found = try transaction.records(ofType: "meters", withNaturalKeys: [key])[0]
          try transaction.delete([Tombstone(id: found[1].id, version: .unversioned)])
          return (found.map(\.id.key), try transaction.records(Query("meters")).map(\.id.key))
        }
        #expect(rest.0 == ["a", "b", "c", "d"])
        #expect(rest.1 == ["a", "c", "d"])
      }
    }

    @Test func ofEachProcessAreItsOwn() async throws {
      try await withStore { old, directory in
        try await old.register(try SyncSchema(Entity("meters", naturalKey: NaturalKey("mac"))))
        let new = try await SQLiteStore.open(path: directory.file("store.db"))
        try await new.register(try SyncSchema(keyed))
        // The old process still writes records and compares keys under its own declaration.
        let entity = Entity("meters", naturalKey: NaturalKey("mac"))
        let records = [
          try copy(entity, "a", #"{"mac":"AA"}"#), try copy(entity, "b", #"{"mac":"a:a"}"#),
          try copy(entity, "c", #"{"mac":"AA"}"#),
        ]
        try await old.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
        #expect(try await duplicates(new) == [["a", "b", "c"]])
        #expect(try await duplicates(old) == [["a", "c"]])
        let found = try await old.read { snapshot throws(SyncError) in
          try snapshot.records(
            ofType: "meters", withNaturalKeys: records.compactMap { entity.naturalKey(of: $0) })
        }
        #expect(found.map { $0.map(\.id.key) } == [["a", "c"], ["b"], ["a", "c"]])
        await new.close()
      }
    }
  }
#endif
