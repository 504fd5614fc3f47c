#if SQLite
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  @Suite("States of many records in SQLite", .timeLimit(.minutes(10)))
  struct StateLookupTests {
    private let plain = Entity("meters")

    /// Adjacent records, and records too far apart for a walk. Their number does not fill the last
    /// statement.
    @Test(arguments: [1, 9, 40])
    func areThoseOfEachOne(_ stride: Int) async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(plain))
        let key = { (number: Int) in "m\(1000 + number)" }
        let stored = try (0..<900).map { try copy(plain, key($0), "{\"v\":\($0)}") }
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.put(stored)
          try transaction.delete(
            stored.indices.filter { $0 % 5 == 0 }.map { Tombstone(id: stored[$0].id, version: .unversioned) })
        }
        let asked = try Swift.stride(from: 0, to: 900, by: stride).flatMap { number in
          // A record as stored or deleted, one with another payload, and an unknown one.
          let payload = number % 2 == 0 ? "{\"v\":\(number)}" : "{}"
          return [
            try copy(plain, key(number), payload), try copy(plain, key(number) + "x", payload),
          ]
        }
        let states = try await store.write(.app) { transaction throws(SyncError) in
          try transaction.states(of: asked)
        }
        let alone = try await store.read { snapshot throws(SyncError) in
          try asked.map { (copy) throws(SyncError) in try snapshot.state(of: copy.id) }
        }
        #expect(states.map { $0?.isDeleted } == alone.map { $0?.isDeleted })
        #expect(states.map { $0?.version } == alone.map { $0?.version })
        #expect(
          states.compactMap { $0?.hasSamePayload }
            == Swift.stride(from: 0, to: 900, by: stride).map { $0 % 2 == 0 && $0 % 5 != 0 })
      }
    }
  }
#endif
