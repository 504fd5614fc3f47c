#if SQLite
  import CanonicalSync
  import SyncAdapters
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncMaintenance
  import Testing

  @Suite("The salvage of a store", .timeLimit(.minutes(10)))
  struct SalvageTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    /// The outbox and the log of conflicts, without the conflicts' numbers.
    private func localState(of store: SQLiteStore) async throws -> (
      edits: [OutboxEntry], conflicts: [Conflict]
    ) {
      try await store.read { (snapshot) throws(SyncError) in
        var edits: [OutboxEntry] = []
        for entity in try snapshot.registeredEntities() {
          edits += try snapshot.outbox(entity.type, after: nil, limit: 1000)
        }
        let conflicts = try snapshot.conflicts(nil, before: nil, limit: 1000).map { conflict in
          var conflict = conflict
          conflict.number = 0
          return conflict
        }
        return (edits.sorted { $0.id < $1.id }, conflicts)
      }
    }

    /// Salvages a store into a new one, and opens it.
    private func salvage(
      _ source: any SalvageSource, _ name: String = "new.db"
    ) async throws -> (SQLiteStore, SalvageReport) {
      let store = try await SQLiteStore.open(path: directory.file(name))
      return (store, try await StoreSalvage(from: source, to: store).run())
    }

    /// Whether a store equals a new one after a sync, except for edited records.
    private func isEqual(_ store: SQLiteStore, _ rich: RichStore) async throws -> Bool {
      let engine = try await rich.engine(on: store)
      _ = try await engine.sync()
      let fresh = InMemoryStore()
      _ = try await rich.engine(on: fresh).sync(SyncRequest(direction: .pull))
      let edited = Set(try await localState(of: store).edits.map(\.id))
      for type: RecordType in ["teams", "games"] {
        let own = try await store.read { (snapshot) throws(SyncError) in try snapshot.records(Query(type)) }
          .filter { !edited.contains($0.id) }
        let theirs = fresh.records(of: type).filter { !edited.contains($0.id) }.sorted { $0.id < $1.id }
        if own.map(\.id) != theirs.map(\.id) || own.map(\.payload) != theirs.map(\.payload) { return false }
      }
      return try await StoreVerification(of: store).run().findings == []
    }

    @Test(arguments: [true, false])
    func takesOverEverythingOfASoundStore(byPort: Bool) async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let (edits, conflicts) = try await localState(of: broken)
      #expect(edits.count >= 4 && !conflicts.isEmpty)
      let edited = Set(edits.map(\.id))
      let live = try await broken.read { (snapshot) throws(SyncError) in
        try snapshot.records(Query("teams")) + snapshot.records(Query("games"))
      }
      let source: any SalvageSource =
        byPort ? PortSalvage(broken) : SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      #expect(report.losses == [] && !report.lostLocalState)
      #expect(report.edits == edits.count && report.conflicts == conflicts.count && report.values > 0)
      #expect(report.records == live.count { !edited.contains($0.id) } && report.records > 50)
      let salvaged = try await localState(of: store)
      #expect(salvaged.edits == edits && salvaged.conflicts == conflicts)
      #expect(try await StoreVerification(of: store).run().findings == [])
      #expect(try await isEqual(store, rich))
      await broken.close()
      await store.close()
    }

    @Test func readsBehindADamagedPage() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: broken)
      let note = Array(#""\#(String(repeating: "x", count: 300))""#.utf8)
      for start in stride(from: 0, to: 300, by: 100) {
        try await engine.edits.perform { (batch) throws(SyncError) in
          for number in start..<start + 100 {
            try batch.set(RecordID(type: "teams", key: "e\(number)")) { $0["note"] = note[...] }
          }
        }
      }
      // A leaf of the outbox's table, and one of the teams' table.
      let pages = try await [
        broken.number(
          "SELECT pageno FROM dbstat WHERE name = 'outbox' AND pagetype = 'leaf' LIMIT 1 OFFSET 5"),
        broken.number(
          "SELECT pageno FROM dbstat WHERE name = 'rows_teams' AND pagetype = 'leaf' LIMIT 1 OFFSET 2"),
      ].compactMap { $0 }
      let total = try await localState(of: broken).edits
      await broken.close()
      try #require(pages.count == 2, "this SQLite has no dbstat")
      var bytes = [UInt8](try directory.contents("store.db"))
      for page in pages {
        for place in Int(page - 1) * 4096..<Int(page) * 4096 { bytes[place] = 0 }
      }
      try directory.write(Data(bytes), to: "store.db")

      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      await source.close()
      let salvaged = Dictionary(
        uniqueKeysWithValues: try await localState(of: store).edits.map { ($0.id, $0) })
      #expect(salvaged.count < total.count && salvaged.count > total.count - 12)
      #expect(salvaged.allSatisfy { id, entry in total.contains(entry) })
      #expect(report.lostLocalState && report.lost[.outbox] == 1 + total.count - salvaged.count)
      #expect((report.lost[.records] ?? 0) > 0)
      #expect(try directory.contents("store.db") == Data(bytes))
      #expect(try await isEqual(store, rich))
      await store.close()
    }

    /// Damage in one column of an edit, which is kept all the same.
    @Test(arguments: [
      "state = 'x'", "base = 'x'", "attempts = -5", "leaves = 'x'", "sent = 7", "counter = -1",
      "rebuilt_pass = 9", "replica = x'ff'", "base_payload = x'00'",
      "physical = 5, counter = 0, replica = 'r'",
      "base_epoch = 9007199254740991", "schema_version = NULL", "schema_version = min(schema_version, -9)",
      "base_schema_version = min(base_schema_version, -9)",
      "sent_schema_version = min(sent_schema_version, -9)",
      // No two types differ in case alone.
      "type = upper(substr(type, 1, 1)) || substr(type, 2)",
    ])
    func keepsAnEditWhoseEntryIsDamaged(column: String) async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let contents = try await localState(of: broken).edits.map { ($0.id, $0.edit.content) }
      try await broken.execute("UPDATE outbox SET \(column)")
      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      let edits = try await localState(of: store).edits
      #expect(edits.map(\.id) == contents.map(\.0) && edits.map(\.edit.content) == contents.map(\.1))
      #expect(report.losses.allSatisfy { $0.detail.contains("kept as it reads") })
      // No edit of these was sent.
      #expect(report.lost[.outbox] ?? 0 > 0 || column.hasPrefix("sent_schema"))
      #expect(try await isEqual(store, rich))
      await broken.close()
      await store.close()
    }

    @Test func leavesOutAReferenceToATypeThatDiffersInCaseAlone() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let edits = try await localState(of: broken).edits
      try await broken.execute(
        "UPDATE entities SET declaration = replace(declaration, '\"teams\"', '\"Teams\"') WHERE type = 'games'"
      )
      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      #expect(report.losses.contains { $0.part == .declarations && $0.type == "games" })
      #expect(try await localState(of: store).edits == edits && !report.lostLocalState)
      #expect(try await isEqual(store, rich))
      await broken.close()
      await store.close()
    }

    @Test func listsAnEditWithoutContent() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let edits = try await localState(of: broken).edits.count
      try await broken.execute("UPDATE outbox SET payload = x'7b' WHERE id = 't6'")
      try await broken.execute("DELETE FROM entities WHERE type = 'games'")
      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      #expect(report.edits == edits - 1 && report.lostLocalState)
      #expect(report.losses.contains { $0.part == .outbox && $0.key == "t6" })
      #expect(report.losses.contains { $0.part == .declarations && $0.type == "games" })
      #expect(try await isEqual(store, rich))
      await broken.close()
      await store.close()
    }

    /// Pages that seem intact and have fewer rows than the indexes list.
    @Test func listsEditsThatAreListedAndMissing() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let edits = try await localState(of: broken).edits
      let root = try #require(
        try await broken.number("SELECT rootpage FROM sqlite_schema WHERE name = 'outbox'"))
      await broken.close()
      var bytes = [UInt8](try directory.contents("store.db"))
      let page = Int(root - 1) * 4096
      try #require(bytes[page] == 13 && bytes[page + 4] == UInt8(edits.count))
      bytes[page + 4] = 1
      try directory.write(Data(bytes), to: "store.db")
      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      await source.close()
      let kept = try await localState(of: store).edits
      #expect(kept.count == 1 && report.lost[.outbox] == edits.count - 1)
      let named = Set(report.losses.compactMap(\.key)).union(kept.map(\.id.key))
      #expect(named.isSuperset(of: edits.map(\.id.key)))
      await store.close()
    }

    @Test func listsAConflictThatNamesNoRecord() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let broken = try await SQLiteStore.open(path: rich.path)
      let conflicts = try await localState(of: broken).conflicts.count
      try await broken.execute(
        "UPDATE conflicts SET id = '' WHERE number = (SELECT min(number) FROM conflicts)")
      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      let (store, report) = try await salvage(source)
      #expect(conflicts > 0 && report.conflicts == conflicts - 1 && report.lost[.conflicts] == 1)
      #expect(try await isEqual(store, rich))
      await broken.close()
      await store.close()
    }

    @Test func refusesAStoreThatIsNotNewAndAFileThatIsNone() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let used = try await SQLiteStore.open(path: rich.path)
      let source = SQLiteSalvage(path: rich.path, scratch: directory.file("scratch"))
      await #expect(throws: SyncError.self) { try await StoreSalvage(from: source, to: used).run() }
      await used.close()
      try directory.write(Data("no database".utf8), to: "text.db")
      for name in ["text.db", "missing.db"] {
        let source = SQLiteSalvage(path: directory.file(name), scratch: directory.file("scratch"))
        let store = try await SQLiteStore.open(path: directory.file("for \(name)"))
        await #expect { try await StoreSalvage(from: source, to: store).run() } throws: {
          ($0 as? SyncError)?.code == .storeUnreadable
        }
        await source.close()
        await store.close()
      }
      #expect(try !directory.names.contains { $0.hasPrefix("scratch") })
    }

    @Test func readsManyConflictsThroughThePortTheOldestFirst() async throws {
      let old = InMemoryStore()
      try await old.register(SyncSchema(Entity("teams")))
      let stamp = EditStamp(physical: Timestamp(microseconds: 1), replica: "r")
      let id = RecordID(type: "teams", key: "t")
      let conflicts = (0..<1000).map { number in
        Conflict(
          id: id, settledAt: Timestamp(microseconds: Int64(number)), local: Edit(.deletion, stamp: stamp),
          remote: .tombstone(Tombstone(id: id, version: .unversioned)), remoteStamp: stamp, base: nil,
          winner: .remote, reason: "a test")
      }
      for start in [0, 500] {
        try await old.write(.app) { (transaction) throws(SyncError) in
          var changes = StoreChanges()
          changes.conflicts = Array(conflicts[start..<start + 500])
          try transaction.apply(changes)
        }
      }
      try await old.write(.app) { (transaction) throws(SyncError) in
        var changes = StoreChanges()
        changes.forgottenConflicts = Timestamp(microseconds: 600)
        try transaction.apply(changes)
      }
      let (store, report) = try await salvage(PortSalvage(old))
      #expect(report.conflicts == 400)
      let times = try await localState(of: store).conflicts.reversed().map(\.settledAt.microseconds)
      #expect(times == Array(600..<1000))
      await store.close()
    }
  }
#endif
