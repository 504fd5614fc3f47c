#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncAdapters
  import SyncMaintenance
  import Testing

  @Suite("A copy that is used beside its store", .timeLimit(.minutes(10)))
  struct SeparateCopyTests {
    private func identity(of store: SQLiteStore) async throws -> String {
      try await store.read { (snapshot) throws(SyncError) in try snapshot.storeIdentity() }
    }

    @Test func hasAnotherIdentityAndEditsOfItsOwn() async throws {
      try await withStore { store, directory in
        let clock = ManualClock()
        let remote = InMemoryRemote(clock: clock)
        let id = RecordID(type: "items", key: "i")
        func engine(_ store: SQLiteStore) async throws -> SyncEngine {
          try await SyncEngine(
            schema: SyncSchema([Entity("items")]), store: store, source: remote, sink: remote, clock: clock)
        }
        func edit(_ engine: SyncEngine, _ value: Int) async throws {
          try await engine.edits.perform { (batch) throws(SyncError) in
            try batch.set(id) { (fields) throws(SyncError) in fields["n"] = Array("\(value)".utf8)[...] }
          }
        }
        let first = try await engine(store)
        try await edit(first, 1)
        let path = directory.file("copy.db")
        try await store.copy(to: path)
        let copy = try await SQLiteStore.open(path: path)
        #expect(try await identity(of: copy) == identity(of: store))
        let name = try await StoreCopy.separate(copy)
        #expect(try await identity(of: copy) == name)
        #expect(try await identity(of: store) != name && name.utf8.count == 32)

        let second = try await engine(copy)
        let pending = try await second.edits.pending("items").map { $0.idempotencyKey(for: $0.edit) }
        #expect(try await first.edits.pending("items").map { $0.idempotencyKey(for: $0.edit) } == pending)
        // The edit that both have has one effect, and later ones are two.
        for engine in [first, second] { _ = try await engine.sync() }
        #expect(remote.pushEffects.count == 1)
        try await edit(first, 2)
        try await edit(second, 3)
        let keys = try await [first, second].asyncMap {
          try await $0.edits.pending("items").map { $0.idempotencyKey(for: $0.edit) }
        }
        #expect(keys[0].count == 1 && keys[1].count == 1 && keys[0] != keys[1])
        for engine in [first, second, first] { #expect(try await engine.sync().failures.isEmpty) }
        let shown = try await [store, copy].asyncMap { store in
          try await store.read { (snapshot) throws(SyncError) in
            try snapshot.records(withIDs: [id])[0]?.payload
          }
        }
        #expect(shown[0] != nil && shown[0] == shown[1])
        await copy.close()
      }
    }

    @Test func isRefusedForAStoreOfAnotherKind() async throws {
      let error = await #expect(throws: SyncError.self) { try await StoreCopy.separate(InMemoryStore()) }
      #expect(error?.code == .invalidConfiguration)
    }
  }

  extension Array {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
      var result: [T] = []
      for element in self { result.append(try await body(element)) }
      return result
    }
  }
#endif
