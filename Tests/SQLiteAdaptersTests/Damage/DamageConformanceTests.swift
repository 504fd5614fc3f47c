#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import SyncConformance
  import Synchronization
  import Testing

  @Suite("The ports for damaged stores, in SQLite", .timeLimit(.minutes(10)))
  struct DamageConformanceTests {
    @Test(arguments: SalvageCheck.allCases)
    func salvageKeepsThePromisesOfASource(_ check: SalvageCheck) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let sources = Mutex<[SQLiteSalvage]>([])
      let harness = SalvageHarness(
        open: { try await SQLiteStore.open(path: directory.file("store.db")) },
        close: { await ($0 as? SQLiteStore)?.close() },
        source: {
          let source = SQLiteSalvage(path: directory.file("store.db"), scratch: directory.file("scratch"))
          sources.withLock { $0.append(source) }
          return source
        },
        damage: {
          var bytes = try directory.contents("store.db")
          // Pages of every table.
          for page in stride(from: 20, to: bytes.count / 4096, by: 10) {
            for place in page * 4096..<(page + 1) * 4096 { bytes[place] = 0 }
          }
          try directory.write(bytes, to: "store.db")
        },
        destroy: { try directory.write(Data(repeating: 7, count: 50_000), to: "store.db") })
      #expect(try await check.run(on: harness) == .kept)
      for source in sources.withLock({ $0 }) { await source.close() }
      #expect(try directory.names.allSatisfy { !$0.hasPrefix("scratch") })
    }

    @Test(arguments: SalvageCheck.allCases)
    func salvageThroughThePortKeepsThem(_ check: SalvageCheck) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let stores = Mutex<[SQLiteStore]>([])
      let harness = SalvageHarness(
        open: { try await SQLiteStore.open(path: directory.file("store.db")) },
        close: { await ($0 as? SQLiteStore)?.close() },
        source: {
          let store = try await SQLiteStore.open(
            path: directory.file("store.db"), configuration: .init(isReadOnly: true))
          stores.withLock { $0.append(store) }
          return PortSalvage(store)
        })
      let outcome = try await check.run(on: harness)
      let needsDamage = check == .whatIsMissingIsListed || check == .lostStoreIsTold
      #expect((outcome == .kept) != needsDamage, "\(outcome)")
      for store in stores.withLock({ $0 }) { await store.close() }
    }

    @Test(arguments: VerificationCheck.allCases)
    func storeKeepsThePromisesOfAVerifiableOne(_ check: VerificationCheck) async throws {
      try await withStore { store, _ in
        let harness = VerificationHarness(
          open: { store },
          damage: { _ in
            for sql in [
              "UPDATE set_aside_counts SET entries = entries + 1", "DROP VIEW live_games",
              "DELETE FROM lease", "DROP TRIGGER set_aside_removed",
            ] { try await store.execute(sql) }
            return store
          })
        let outcome = try await check.run(on: harness)
        #expect(outcome == .kept, "\(outcome)")
      }
    }
  }
#endif
