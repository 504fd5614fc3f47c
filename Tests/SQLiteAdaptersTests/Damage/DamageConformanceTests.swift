#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import SyncConformance
  import SyncMaintenance
  import Synchronization
  import Testing

  @Suite("The ports for damaged stores, in SQLite", .timeLimit(.minutes(10)))
  struct DamageConformanceTests {
    @Test(arguments: SalvageCheck.allCases)
    func salvageKeepsThePromisesOfASource(_ check: SalvageCheck) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let harness = SalvageHarness(
        open: { try await SQLiteStore.open(path: directory.file("store.db")) },
        close: { await ($0 as? SQLiteStore)?.close() },
        makeSource: {
          SQLiteSalvage(path: directory.file("store.db"), scratch: directory.file("scratch"))
        },
        closeSource: { await ($0 as? SQLiteSalvage)?.close() },
        damage: { try directory.clearPages(of: "store.db") },
        destroy: { try directory.write(Data(repeating: 7, count: 50_000), to: "store.db") })
      #expect(try await check.run(on: harness) == .kept)
      #expect(try directory.names.allSatisfy { !$0.hasPrefix("scratch") })
    }

    @Test(arguments: SalvageCheck.allCases)
    func salvageThroughThePortKeepsThem(_ check: SalvageCheck) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let stores = Mutex<[SQLiteStore]>([])
      let harness = SalvageHarness(
        open: { try await SQLiteStore.open(path: directory.file("store.db")) },
        close: { await ($0 as? SQLiteStore)?.close() },
        makeSource: {
          let store = try await SQLiteStore.open(
            path: directory.file("store.db"), configuration: .init(isReadOnly: true))
          stores.withLock { $0.append(store) }
          return PortSalvage(store)
        })
      let outcome = try await check.run(on: harness)
      let needsDamage = [.missingEntriesAreListed, .damagedStoreStaysAsItIs, .lostStoreIsAnError].contains(
        check)
      #expect((outcome == .kept) != needsDamage, "\(outcome)")
      for store in stores.withLock({ $0 }) { await store.close() }
    }

    @Test(arguments: VerifiableStoreCheck.allCases)
    func storeKeepsThePromisesOfAVerifiableOne(_ check: VerifiableStoreCheck) async throws {
      let directory = try TemporaryDirectory()
      let stores = Mutex<[SQLiteStore]>([])
      @Sendable func open() async throws -> SQLiteStore {
        let store = try await SQLiteStore.open(path: directory.file("store.db"))
        stores.withLock { $0.append(store) }
        return store
      }
      let harness = VerifiableStoreHarness(
        open: open,
        damage: { _ in
          let store = try await open()
          try await store.execute("UPDATE outbox SET payload = payload || ' ' WHERE id GLOB 'g1*'")
          return store
        },
        destroy: { _ in
          for store in stores.withLock({ $0 }) { await store.close() }
          try directory.clearPages(of: "store.db")
          return try await open()
        })
      let outcome = try await check.run(on: harness)
      #expect(outcome == .kept, "\(outcome)")
      for store in stores.withLock({ $0 }) { await store.close() }
    }
  }

  extension TemporaryDirectory {
    /// Fills a tenth of a file's pages with zeros, but none of the list of tables.
    fileprivate func clearPages(of name: String) throws {
      var bytes = try contents(name)
      for page in stride(from: 40, to: bytes.count / 4096, by: 10) {
        for place in page * 4096..<(page + 1) * 4096 { bytes[place] = 0 }
      }
      try write(bytes, to: name)
    }
  }
#endif
