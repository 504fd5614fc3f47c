#if SQLite
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncMaintenance
  import Testing

  // The code of Docs/DamagedStores.md.

  func isSound(_ store: any LocalStore) async throws -> Bool {
    let report = try await StoreVerification(of: store).run()
    for finding in report.findings { print(finding) }
    return report.isSound
  }

  func rescue(_ path: String, to store: some LocalStore) async throws -> SalvageReport {
    let source = SQLiteSalvage(path: path, scratch: path + ".copy")
    return try await StoreSalvage(from: source, to: store).run()
  }

  @Suite("The guide to damaged stores")
  struct DamageExampleTests {
    @Test func verifiesAndRescuesAStore() async throws {
      let path = FileManager.default.temporaryDirectory.appending(path: "damage-\(UUID().uuidString).db").path
      defer {
        for suffix in ["", "-wal", "-shm", ".lease", ".copy"] {
          // The system removes any remaining files.
          try? FileManager.default.removeItem(atPath: path + suffix)
        }
      }
      let store = try await SQLiteStore.open(path: path)
      try await store.register(SyncSchema(Entity("teams")))
      #expect(try await isSound(store))
      await store.close()
      let rescued = InMemoryStore()
      let report = try await rescue(path, to: rescued)
      #expect(report.losses == [] && !report.lostLocalState)
      #expect(try await isSound(rescued))
      await #expect(throws: SyncError.self) { try await rescue(path + ".none", to: InMemoryStore()) }
    }
  }
#endif
