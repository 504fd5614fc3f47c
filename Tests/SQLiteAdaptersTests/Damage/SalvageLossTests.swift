#if SQLite
  import CanonicalSync
  import CanonicalSyncCSQLite
  import Foundation
  import InMemoryAdapters
  import SyncMaintenance
  import Testing

  @testable import SQLiteAdapters

  /// What a salvage says of what it could not take over as it was written.
  @Suite("The losses of a salvage", .timeLimit(.minutes(10)))
  struct SalvageLossTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    private func salvage(after sql: String) async throws -> (keys: [String], report: SalvageReport) {
      let path = directory.file("store.db")
      _ = try await RichStore(path: path)
      let broken = try await SQLiteStore.open(path: path)
      try await broken.execute(sql)
      await broken.close()
      let (store, report) = try await salvaged(path)
      let keys = try await store.read { (snapshot) throws(SyncError) in
        try snapshot.keys(withPrefix: "", after: nil, limit: 1000)
      }
      await store.close()
      return (keys, report)
    }

    @Test func nameAnEditThatIsNotAsItWasWritten() async throws {
      let (_, report) = try await salvage(after: "UPDATE outbox SET payload = x'7b7d' WHERE id = 't6'")
      #expect(report.losses.map(\.key) == ["t6"] && report.lost[.outbox] == 1)
      #expect(report.losses.first?.detail.contains("kept as it reads") == true)
    }

    /// Damage gives one edit the id of another record, and the index still has both.
    @Test func nameAnEditThatHasTheIdOfAnother() async throws {
      let path = directory.file("store.db")
      let rich = try await RichStore(path: path)
      let broken = try await SQLiteStore.open(path: path)
      let engine = try await rich.engine(on: broken)
      for key in ["x1", "x9"] { try await rich.edit(engine, key, "\"of \(key)\"") }
      await broken.close()
      var bytes = [UInt8](try directory.contents("store.db"))
      let text = Array("teamsx1".utf8)
      let places = bytes.indices.filter { bytes[$0...].starts(with: text) }
      // The row of the outbox has a payload behind its id, the entry of the index has none.
      let note = Array("of x1".utf8)
      let place = try #require(
        places.first { place in
          bytes[place..<min(place + 300, bytes.count)].indices.contains { bytes[$0...].starts(with: note) }
        })
      bytes[place + text.count - 1] = UInt8(ascii: "9")
      try directory.write(Data(bytes), to: "store.db")
      let (store, report) = try await salvaged(path)
      let kept = try await store.read { (snapshot) throws(SyncError) in
        try snapshot.outbox(for: [RecordID(type: "teams", key: "x9")]).first?.edit.content.payload
      }
      #expect(String(decoding: try #require(kept).bytes, as: UTF8.self).contains("of x9"))
      #expect(report.losses.contains { $0.key == "x1" } && report.lostLocalState)
      await store.close()
    }

    @Test func areNoneOfAnAppsOwnValues() async throws {
      let path = directory.file("store.db")
      _ = try await RichStore(path: path)
      let broken = try await SQLiteStore.open(path: path)
      try await broken.write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue(Array("no JSON".utf8), forKey: "app/window")
      }
      let (store, report) = try await salvaged(path)
      let keys = try await broken.read { (snapshot) throws(SyncError) in
        try snapshot.keys(withPrefix: "", after: nil, limit: 1000)
      }
      await broken.close()
      #expect(report.losses == [])
      // The library's other values describe syncs.
      let own = keys.count { key in ["app/", "throttle/"].contains { key.hasPrefix($0) } }
      #expect(report.values == own && own > 1 && keys.count > own + 5, "\(keys)")
      let value = try await store.read { (snapshot) throws(SyncError) in
        try snapshot.value(forKey: "app/window")
      }
      #expect(value == Array("no JSON".utf8))
      await store.close()
    }

    @Test func sayThatTheStoreHadMoved() async throws {
      let (_, report) = try await salvage(
        after: "INSERT INTO meta VALUES ('moved', 'postgres://host/stores')")
      #expect(report.losses.contains { $0.detail.contains("moved to postgres://host/stores") })
      #expect(!report.lostLocalState)
    }

    // MARK: Copies

    @Test(arguments: ["store.db", "store.db-wal", "link.db"])
    func areNotTheStoreItself(_ name: String) async throws {
      let path = directory.file("store.db")
      _ = try await RichStore(path: path)
      try FileManager.default.createSymbolicLink(
        atPath: directory.file("link.db"), withDestinationPath: "store.db")
      let contents = try directory.contents("store.db")
      let store = try await SQLiteStore.open(path: directory.file("new.db"))
      let source = SQLiteSalvage(path: path, scratch: directory.file(name))
      let error = await #expect(throws: SyncError.self) {
        try await StoreSalvage(from: source, to: store).run()
      }
      #expect(error?.code == .invalidConfiguration)
      await source.close()
      await store.close()
      #expect(try directory.contents("store.db") == contents)
    }

    @Test func areNotAFileThatNoCopyWasMadeOf() async throws {
      let path = directory.file("store.db")
      _ = try await RichStore(path: path)
      try directory.write(Data("mine".utf8), to: "scratch")
      let store = try await SQLiteStore.open(path: directory.file("new.db"))
      let source = SQLiteSalvage(path: path, scratch: directory.file("scratch"))
      _ = try await StoreSalvage(from: source, to: store).run()
      await source.close()
      await store.close()
      #expect(try directory.contents("scratch") == Data("mine".utf8))
    }

    // MARK: Shortage

    @Test func areNoDamageAfterTheStoreWasClosed() async throws {
      let path = directory.file("store.db")
      _ = try await RichStore(path: path)
      let store = try await SQLiteStore.open(path: path)
      await store.close()
      let error = await #expect(throws: SyncError.self) { try await StoreVerification(of: store).run() }
      #expect(error?.code == .storeFailure && error?.message.contains("closed") == true)
    }

    @Test(arguments: [
      (SQLITE_CANTOPEN, EMFILE, false), (SQLITE_IOERR, ENFILE, false), (SQLITE_NOMEM, 0, false),
      (SQLITE_IOERR, EIO, true), (SQLITE_ERROR, 0, true), (SQLITE_CORRUPT, 0, true), (SQLITE_BUSY, 0, false),
    ])
    func areNoneOfAShortage(_ code: Int32, _ systemError: Int32, isOfStore: Bool) {
      let failure = SQLiteFailure(code: code, systemError: systemError)
      #expect(failure.error(during: "reading").isOfDamagedStore == isOfStore)
    }
  }
#endif
