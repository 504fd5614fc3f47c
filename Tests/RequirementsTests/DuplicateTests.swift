import CanonicalSync
import Foundation
import InMemoryAdapters
import Testing

#if SQLite
  import SQLiteAdapters
#endif

@Suite("Duplicates, migration, clean-up", .timeLimit(.minutes(10)))
struct DuplicateTests {
  /// Three meters with one address, written ten seconds apart, and a reading of the first.
  private func addDuplicates(to setting: Setting) {
    for number in 1...3 {
      setting.remote.upsert(
        "meters", "m\(number)", #"{"id":"m\#(number)","mac":"AA:01","name":"\#(number)"}"#)
      setting.clock.advance(by: .seconds(10))
    }
    setting.remote.upsert("readings", "r", #"{"id":"r","meter":"m1"}"#)
  }

  @Test("R4.1: duplicates collapse in place; only losers are deleted", arguments: StoreKind.allCases)
  func duplicatesCollapse(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      addDuplicates(to: setting)
      let engine = try await setting.engine([Setting.meters, Setting.readings])
      _ = try await engine.sync()
      let report = try await engine.rebuildDuplicates(of: "meters", version: 1)
      #expect((report.counts.groups, report.counts.losers) == (1, 2))
      _ = try await engine.sync()
      #expect(try await setting.keys("meters") == ["m3"])
      #expect(setting.remote.records(of: "meters").map(\.key) == ["m3"])
      #expect(setting.remote.pushEffects.filter { $0.id.type == "meters" && !$0.isDeletion }.isEmpty)
      // A later duplicate of the app collapses with the next sync.
      setting.clock.advance(by: .seconds(10))
      try await engine.edits.upsert(Meter(mac: "aa01", name: "again"), key: "m4")
      for _ in 1...2 { _ = try await engine.sync() }
      #expect(try await setting.keys("meters") == ["m4"])
      #expect(setting.remote.records(of: "meters").map(\.key) == ["m4"])
    }
  }

  @Test(
    "R4.2: a rebuild's version runs once, resumes where it was stopped, and then does nothing",
    arguments: StoreKind.allCases)
  func rebuildsRunOnce(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      for group in 1...9 {
        for copy in 1...2 {
          setting.remote.upsert(
            "meters", "m\(group)-\(copy)", #"{"id":"m\#(group)-\#(copy)","mac":"0\#(group)"}"#)
        }
      }
      let engine = try await setting.engine([Setting.meters])
      _ = try await engine.sync()
      let options = RebuildOptions(recordsAtOnce: 2)
      let store = setting.store
      let token = FlagToken(isCancelled: true)
      let cut = try await engine.rebuildDuplicates(of: "meters", version: 1, options: options, token: token)
      #expect(cut.wasCancelled)
      let done = try await engine.rebuildDuplicates(of: "meters", version: 1, options: options)
      #expect(done.counts.groups == 9)
      let again = try await SyncEngine(
        schema: SyncSchema(Setting.meters), store: store, source: setting.remote
      )
      .rebuildDuplicates(of: "meters", version: 1)
      #expect(again.wasDone)
      #expect(again.counts.groups == 0)
    }
  }

  @Test("R4.3: references to a loser move to the winner", arguments: StoreKind.allCases)
  func referencesFollowTheWinner(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      addDuplicates(to: setting)
      let engine = try await setting.engine([Setting.meters, Setting.readings])
      _ = try await engine.sync()
      _ = try await engine.rebuildDuplicates(of: "meters", version: 1)
      #expect(try await setting.member("meter", of: "r", "readings") == #""m3""#)
      _ = try await engine.sync()
      #expect(try setting.remoteMember("meter", of: "r", "readings") == #""m3""#)
    }
  }

  @Test(
    "R4.4: legacy settings are read once, become records, and stay where they are",
    arguments: StoreKind.allCases)
  func legacySettingsAreReadOnce(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let settings = InMemoryLegacySettings(["names": ["AA:01": #""Cellar""#, "AA:02": #""Attic""#]])
      let before = settings.dictionaries
      let migration = LegacyMigration("first", to: "meters", keyField: "mac", fields: ["names": "name"])
      let engine = try await setting.engine([Setting.meters])
      #expect(try await engine.migrate(settings, by: migration).counts.inserted == 2)
      #expect(
        try await engine.records.find(Meter.self, key: "AA:01")?.value == Meter(mac: "AA:01", name: "Cellar"))
      let reads = settings.reads
      #expect(try await engine.migrate(settings, by: migration).wasDone)
      #expect(settings.reads == reads)
      #expect(settings.dictionaries == before)
    }
  }

  @Test(
    "R4.5: clean-up hides old records locally; a remote change shows them again",
    arguments: StoreKind.allCases)
  func cleanUpHides(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...1)
      setting.remote.upsert("games", "old", #"{"id":"old","home":"t1","date":"2019-04-01"}"#)
      setting.remote.upsert("games", "new", #"{"id":"new","home":"t1","date":"2025-12-31"}"#)
      let engine = try await setting.engine()
      _ = try await engine.sync()
      let year = Duration.seconds(365 * 86_400)
      let report = try await engine.cleanUp(
        CleanupPolicy([.hide("games", olderThan: year, by: .date("date"))]))
      #expect(report.hidden == ["games": 1])
      #expect(try await setting.keys("games") == ["new"])
      #expect(setting.remote.records(of: "games").count == 2)
      _ = try await engine.resync()
      #expect(try await setting.keys("games") == ["new"])
      setting.clock.advance(by: .seconds(10))
      setting.remote.upsert("games", "old", #"{"id":"old","home":"t1","date":"2019-04-01","score":3}"#)
      _ = try await engine.sync()
      #expect(try await setting.keys("games") == ["new", "old"])
    }
  }

  @Test("R4.6: a value beside a record ends after its lifetime and is purged", arguments: StoreKind.allCases)
  func valuesEnd(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let engine = try await setting.engine([Setting.meters])
      let seen = ExpiringField<String>("seen", lifetime: .seconds(24 * 3600))
      let id = RecordID(type: "meters", key: "m")
      try await engine.expiring.set("kitchen", for: seen, of: id)
      setting.clock.advance(by: .seconds(24 * 3600 - 1))
      #expect(try await engine.expiring.value(of: seen, for: id) == "kitchen")
      setting.clock.advance(by: .seconds(1))
      #expect(try await engine.expiring.value(of: seen, for: id) == nil)
      #expect(try await engine.cleanUp(CleanupPolicy()).expired == 1)
    }
  }

  @Test("R4.6: a synced value appears on another device, and ends there", arguments: StoreKind.allCases)
  func valuesThatTravelEnd(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.remote.upsert("meters", "m", #"{"id":"m","mac":"aa"}"#)
      let place = ExpiringMember<String>("connectionMetadata", of: "meters")
      let engine = try await setting.engine([Setting.meters])
      _ = try await engine.sync()
      try await engine.expiring.set("kitchen", for: place, key: "m")
      _ = try await engine.sync()
      try await withStore(kind, setting.clock) { store in
        let other = try await Setting(clock: setting.clock, remote: setting.remote, store: store)
          .engine([Setting.meters])
        _ = try await other.sync()
        #expect(try await other.expiring.value(of: place, key: "m") == "kitchen")
        setting.clock.advance(by: .seconds(24 * 3600))
        #expect(try await other.expiring.value(of: place, key: "m") == nil)
        // A clean-up keeps it as long as another device's clock may be behind.
        setting.clock.advance(by: .seconds(300))
        _ = try await other.cleanUp(CleanupPolicy(expiring: [place.purge]))
        _ = try await other.sync()
      }
      #expect(try setting.remoteMember("connectionMetadata", of: "m", "meters") == nil)
    }
  }

  @Test(
    "R4.7: records stay when a newer app declares more about them", arguments: StoreKind.allCases)
  func declarationsMoveForward(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...3)
      _ = try await setting.engine([Entity("teams")]).sync()
      let next = try await setting.engine([Setting.teams])
      let found = try await next.records.filter(Team.self, where: .equal("name", "Team 2"))
      #expect(found.map(\.name) == ["Team 2"])
      #expect(try await next.records.count(Team.self) == 3)
    }
  }

  #if SQLite
    @Test("R4.7: a file of a newer library is refused with a clear error, and left as it is")
    func filesOfNewerLibrariesAreRefused() async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "requirements-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("store.sqlite")
      await (try SQLiteStore.open(path: file.path)).close()
      // SQLite's user_version, in which the store counts the steps of its layout.
      var bytes = try Data(contentsOf: file)
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 200])
      try bytes.write(to: file)
      await #expect {
        try await SQLiteStore.open(path: file.path)
      } throws: {
        let error = $0 as? SyncError
        return error?.code == .storeNewer && error?.message.isEmpty == false
      }
      #expect(try Data(contentsOf: file) == bytes)
    }
  #endif
}
