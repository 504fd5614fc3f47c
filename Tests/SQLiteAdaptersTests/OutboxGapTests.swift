#if SQLite
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  @Suite("Gaps between pending edits in SQLite", .timeLimit(.minutes(10)))
  struct OutboxGapTests {
    @Test func holdTheKeysFromTheirStartUpToTheNextEdit() {
      var gaps = OutboxGaps()
      func hold(_ key: String) -> Bool { gaps.contain(key) }
      #expect(!hold("b"))
      gaps.learn(from: "b", to: "d")
      #expect(hold("b"))
      #expect(hold("c\u{301}"))
      #expect(!hold("a"))
      #expect(!hold("d"), "There is an edit.")
      gaps.learn(from: "x", to: nil)
      #expect(hold("\u{10FFFF}"), "No edit follows the last one.")
      #expect(hold("b"), "Two of them take turns.")
      gaps.forget()
      #expect(!hold("b"))
    }

    @Test func areGivenUpWhereTheySaveNothing() {
      var gaps = OutboxGaps()
      for number in 0..<8 {
        #expect(gaps.areWorthwhile)
        gaps.learn(from: "\(number)", to: "\(number)x")
      }
      #expect(!gaps.areWorthwhile)
      for _ in 0..<9 { _ = gaps.contain("7") }
      #expect(gaps.areWorthwhile)
    }

    /// The records alternate between two key ranges and two types. Some have edits.
    @Test(arguments: [1, 2, 3, 7, 50, 151, 1000])
    func hideNoEdit(_ stride: Int) async throws {
      try await withStore { store, _ in
        let ids = (0..<150).flatMap { number in
          ["games", "teams"].flatMap { type in
            ["a", "z"].map { RecordID(type: type, key: "\($0)\(1000 + number)") }
          }
        }
        let asked = ids.sorted { $0.type.rawValue < $1.type.rawValue }
        let wanted = Swift.stride(from: stride / 2, to: ids.count, by: stride).map { ids[$0] }
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.queue(
            wanted.enumerated().map { place, id in
              OutboxEntry(
                id: id,
                edit: Edit(.deletion, stamp: EditStamp(physical: Timestamp(milliseconds: Int64(place)))),
                base: .none)
            })
        }
        for order in [asked, asked.reversed(), ids] {
          let found = try await store.read { snapshot throws(SyncError) in
            try snapshot.outbox(for: order).map(\.id)
          }
          #expect(found == order.filter { wanted.contains($0) })
        }
      }
    }
  }
#endif
