#if Postgres
  import CanonicalSyncTestPostgres
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("The digests of payloads", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct PayloadTests {
    /// The values are those of another implementation, with a key of zeros.
    @Test(arguments: [
      (1, 7541581120933061747),
      (7, 3389392686435873370),
      (8, -1525574692105212182),
      (9, 8471974163824919394),
      (16, -8542738587087157833),
      (37, 4767789530095809126),
    ])
    func areThoseOfSipHash(_ size: UInt8, _ digest: Int64) {
      let bytes = Array(0..<size)
      #expect(PayloadDigest(key: Array(repeating: 0, count: 16)).of(bytes[...]) == digest)
      #expect(PayloadDigest(key: Array(1...16)).of(bytes[...]) != digest)
    }

    private func sameness(of payloads: [String], in store: PostgresStore) async throws -> [Bool] {
      let copies = try payloads.enumerated().map { try Games.record("r\($0.offset)", $0.element) }
      return try await store.read { (snapshot) throws(SyncError) in
        try snapshot.states(of: copies.map(\.id), comparing: copies.map(\.payload)).map {
          $0?.hasSamePayload ?? false
        }
      }
    }

    /// Payloads of many sizes.
    private let payloads = (0..<40).map { #"{"x":"\#(String(repeating: "y", count: $0))"}"# }

    /// The same payloads, each with another byte in one place.
    private var changed: [String] {
      payloads.enumerated().map { place, payload in
        var bytes = Array(payload.utf8)
        if place > 0 { bytes[6 + place * 7 % place] = UInt8(ascii: "z") }
        return String(decoding: bytes, as: UTF8.self)
      }
    }

    @Test func tellEveryChange() async throws {
      try await Games.withStore { store, schema in
        try await store.put(try payloads.enumerated().map { try Games.record("r\($0.offset)", $0.element) })
        #expect(try await sameness(of: payloads, in: store) == payloads.map { _ in true })
        #expect(try await sameness(of: changed, in: store) == payloads.indices.map { $0 == 0 })
        // A row of an earlier layout has none.
        try Database.run("UPDATE \(schema).rows_games SET digest = NULL")
        #expect(try await sameness(of: payloads, in: store) == payloads.map { _ in true })
        #expect(try await sameness(of: changed, in: store) == payloads.indices.map { $0 == 0 })
      }
    }

    @Test func areMadeWithEachPayload() async throws {
      try await Games.withStore { store, schema in
        try await store.put(Games.record("r0", #"{"x":1}"#))
        try await store.put(Games.record("r0", #"{"x":2}"#, version: 2))
        #expect(try await sameness(of: [#"{"x":1}"#], in: store) == [false])
        #expect(try await sameness(of: [#"{"x":2}"#], in: store) == [true])
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.delete([
            Tombstone(
              id: RecordID(type: "games", key: "r0"),
              version: Version(sequence: 3, modifiedAt: Timestamp(milliseconds: 3)))
          ])
        }
        #expect(try Database.run("SELECT count(digest) FROM \(schema).rows_games") == "0")
      }
    }
  }
#endif
