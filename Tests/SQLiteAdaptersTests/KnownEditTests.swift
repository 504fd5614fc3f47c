#if SQLite
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Edits that the writer has cached", .timeLimit(.minutes(10)))
  struct KnownEditTests {
    private static let ids = (0..<24).map { RecordID(type: $0 % 8 == 0 ? "teams" : "games", key: "k\($0)") }

    private func entry(_ place: Int, _ physical: Int64) -> OutboxEntry {
      OutboxEntry(
        id: Self.ids[place],
        edit: Edit(
          .upsert(Payload(Array("{\"v\":\(physical)}".utf8)), schemaVersion: 1),
          stamp: EditStamp(physical: Timestamp(microseconds: physical), replica: "r")),
        base: .none)
    }

    /// Makes a change to the outbox and to its expected contents.
    private func act(
      _ step: Int64, _ outbox: inout [RecordID: OutboxEntry], _ random: inout SplitMix64,
      in transaction: any StoreTransaction
    ) throws(SyncError) {
      let places = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        Int.random(in: 0..<24, using: &random)
      }
      let ids = Self.ids.enumerated().filter { places.contains($0.offset) }.map(\.element)
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        #expect(Set(try transaction.outbox(for: ids)) == Set(ids.compactMap { outbox[$0] }))
      case 1:
        let listed = try transaction.outbox("games", after: nil, limit: places.count)
        let all = outbox.values.filter { $0.id.type == "games" }
          .sorted { ($0.edit.stamp, $0.id.key) < ($1.edit.stamp, $1.id.key) }
        #expect(listed == Array(all.prefix(places.count)))
      case 2:
        let entries = places.map { entry($0, step * 100 + Int64($0)) }
        try transaction.queue(entries)
        for entry in entries { outbox[entry.id] = entry }
      case 3, 4:
        // As in a push: the entries were sent or refused.
        let entries = try transaction.outbox(for: ids).map { entry in
          var entry = entry
          entry.attempts += 1
          if Bool.random(using: &random) {
            entry.sent = entry.edit
          } else {
            entry.state = .refused(reason: "no", at: Timestamp(microseconds: step))
          }
          return entry
        }
        try transaction.queue(entries)
        for entry in entries { outbox[entry.id] = entry }
      default:
        try transaction.dequeue(ids)
        for id in ids { outbox[id] = nil }
      }
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func areWhatTheFileHolds(seed: UInt64) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let path = directory.file("store.db")
      let stores = [try await SQLiteStore.open(path: path), try await SQLiteStore.open(path: path)]
      var random = SplitMix64(seed: seed)
      var outbox: [RecordID: OutboxEntry] = [:]
      for step in 1...150 as ClosedRange<Int64> {
        let store = stores[Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0]
        let isTakenBack = Int.random(in: 0..<6, using: &random) == 0
        let (before, generator) = (outbox, random)
        let result = try? await store.write(.app) { transaction throws(SyncError) in
          var (after, random) = (before, generator)
          for _ in 0..<2 { try act(step, &after, &random, in: transaction) }
          if isTakenBack { throw SyncError(.cancelled, during: "trying") }
          return (after, random)
        }
        if let result { (outbox, random) = result } else { _ = random.next() }
        let expected = outbox
        for store in stores {
          let (all, counts) = try await store.write(.app) { transaction throws(SyncError) in
            (
              try transaction.outbox(for: Self.ids),
              [try transaction.outboxCount("games"), try transaction.outboxCount("teams")]
            )
          }
          #expect(all == Self.ids.compactMap { expected[$0] }, "after step \(step)")
          #expect(counts == ["games", "teams"].map { type in expected.keys.count { $0.type == type } })
          if all.count != expected.count { return }
        }
      }
      for store in stores { await store.close() }
    }
  }
#endif
