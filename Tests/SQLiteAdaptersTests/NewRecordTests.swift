#if SQLite
  import InMemoryAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  @Suite("New records", .timeLimit(.minutes(10)))
  struct NewRecordTests {
    private static let types = [Entity("games"), Entity("teams")]

    private func copies(_ random: inout SplitMix64, version: Int64) throws -> [Record] {
      // In random order, because a walk finds records in the order of their ids.
      try (0..<Int.random(in: 2...12, using: &random)).map { _ in
        let type = Self.types[Int.random(in: 0..<16, using: &random) == 0 ? 1 : 0]
        return try copy(type, "k\(Int.random(in: 0..<300, using: &random))", version: version)
      }
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func areNotTakenForNewWhereAnotherConnectionAddedThem(seed: UInt64) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let path = directory.file("store.db")
      let stores = [try await SQLiteStore.open(path: path), try await SQLiteStore.open(path: path)]
      for store in stores { try await store.register(try SyncSchema(Self.types)) }
      var random = SplitMix64(seed: seed)
      var versions: [RecordID: Int64] = [:]
      for step in 1...200 as ClosedRange<Int64> {
        let store = stores[Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0]
        let isTakenBack = Int.random(in: 0..<8, using: &random) == 0
        let deletes = Int.random(in: 0..<4, using: &random) == 0
        let page = try copies(&random, version: step)
        let states = try? await store.write(.app) { transaction throws(SyncError) in
          let states = try transaction.states(of: page)
          if deletes {
            try transaction.delete(page.map { Tombstone(id: $0.id, version: $0.version) })
          } else {
            try transaction.put(page)
          }
          if isTakenBack { throw SyncError(.cancelled, during: "trying") }
          return states
        }
        guard let states else { continue }
        #expect(states.map { $0?.version.sequence } == page.map { versions[$0.id] }, "in step \(step)")
        for record in page { versions[record.id] = step }
      }
      let count = versions.keys.count { $0.type == "games" }
      for store in stores {
        let ids = Array(versions.keys)
        let known = try await store.write(.app) { transaction throws(SyncError) in
          var known = 0
          for id in ids where try transaction.state(of: id) != nil { known += 1 }
          return known
        }
        #expect(known == versions.count && count > 100)
        await store.close()
      }
    }

    // Slices of 16 KiB, 128 KiB and 2 MiB have room for 8,192, 65,536 and a million records.
    @Test(arguments: [(100, 16 << 10), (10_000, 144 << 10), (100_000, (144 << 10) + (2 << 20))])
    func areMostlyKnownToBeNew(count: Int, size: Int) {
      var filter = NewRecordFilter()
      #expect(filter.wasEmpty("games") == nil && filter.size == 0)
      filter.note("games", isEmpty: true)
      let ids = (0..<2 * count).map { RecordID(type: "games", key: "record \($0)") }
      for id in ids.prefix(count) { filter.insert(id) }
      #expect(ids.prefix(count).allSatisfy { filter.mayContain($0) })
      #expect(ids.suffix(count).count { filter.mayContain($0) } < max(2, count / 150))
      #expect(filter.size == size)
      filter.forget()
      #expect(filter.wasEmpty("games") == nil && filter.size == 0)
    }
  }
#endif
