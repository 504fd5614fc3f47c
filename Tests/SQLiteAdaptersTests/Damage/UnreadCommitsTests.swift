#if SQLite
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import SyncMaintenance
  import Testing

  @testable import SQLiteAdapters

  /// Damage in the log of a store whose process has died.
  @Suite("A log with transactions that SQLite cannot read", .timeLimit(.minutes(10)))
  struct UnreadCommitsTests {
    private let directory: TemporaryDirectory
    private static let frame = 4096 + 24

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    /// Leaves the files of a process that has died after some edits.
    private func leave(_ name: String, edits count: Int = 6) async throws -> (RichStore, Set<RecordID>) {
      let rich = try await RichStore(path: directory.file("source.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      for number in 0..<count { try await rich.edit(engine, "late\(number)", "\"late\"") }
      for suffix in ["", "-wal"] {
        try directory.write(directory.contents("source.db" + suffix), to: name + suffix)
      }
      let edits = try await edits(of: store)
      await store.close()
      return (rich, edits)
    }

    private func edits(of store: SQLiteStore) async throws -> Set<RecordID> {
      try await store.read { (snapshot) throws(SyncError) in
        Set(try snapshot.outbox("teams", after: nil, limit: 1000).map(\.id))
      }
    }

    private func damageLog(of name: String, at places: [Int]) throws {
      var log = [UInt8](try directory.contents(name + "-wal"))
      for place in places { log[place] ^= 0x10 }
      try directory.write(Data(log), to: name + "-wal")
    }

    private func find(_ name: String) throws -> UnreadCommits? {
      try UnreadCommits.find(inLog: directory.file(name + "-wal"))
    }

    private func findings(_ name: String) async throws -> [String] {
      let store = try await SQLiteStore.open(
        path: directory.file(name), configuration: .init(isReadOnly: true))
      let findings = try await StoreVerification(of: store).run().findings
      await store.close()
      return findings.map(\.detail)
    }

    private func salvage(_ name: String) async throws -> (edits: Set<RecordID>, report: SalvageReport) {
      // Of a former salvage.
      for other in try directory.names where other.hasPrefix(name + ".new") {
        try FileManager.default.removeItem(atPath: directory.file(other))
      }
      let (store, report) = try await salvaged(directory.file(name))
      let edits = try await edits(of: store)
      await store.close()
      return (edits, report)
    }

    /// Places in a frame: the page's number, the salts, the checksum and the page. A negative one is
    /// in the log's header.
    @Test(arguments: [1, 9, 17, 2000, -2, -9, -17, -26])
    func isFoundAndKeptWhenTheStoreIsOpened(_ place: Int) async throws {
      let (rich, edits) = try await leave("store.db")
      try damageLog(of: "store.db", at: [place < 0 ? -place : 32 + 4 * Self.frame + place])
      #expect(try find("store.db") != nil)
      #expect(try await findings("store.db").contains { $0.hasPrefix("The log is damaged") })
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      let early = try await salvage("store.db")
      #expect(early.edits.isSubset(of: edits) && early.report.lostLocalState)
      #expect(try directory.contents("store.db") == file && directory.contents("store.db-wal") == log)

      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      let engine = try await rich.engine(on: store)
      try await rich.edit(engine, "after", "\"after\"")
      #expect(try await self.edits(of: store).count < edits.count + 1)
      await store.close()
      #expect(try directory.contents("store.db.damaged") == file)
      #expect(try directory.contents("store.db.damaged-wal") == log)
      #expect(try directory.permissions("store.db.damaged") == 0o600)
      let found = try await findings("store.db")
      #expect(found.count == 1 && found[0].contains("store.db.damaged and its log"))
      let report = try await salvage("store.db").report
      #expect(report.losses.contains { $0.detail.contains("store.db.damaged") } && report.lostLocalState)
      for name in ["store.db.damaged", "store.db.damaged-wal"] {
        try FileManager.default.removeItem(atPath: directory.file(name))
      }
      #expect(try await findings("store.db") == [])
    }

    /// The end of a log that a death has cut is no damage.
    @Test func areNoneOfALogThatIsWholeOrCut() async throws {
      let (_, edits) = try await leave("store.db")
      let log = try directory.contents("store.db-wal")
      for length in [log.count, log.count - 100, log.count - Self.frame - 5, 40, 0] {
        try directory.write(log.prefix(length), to: "cut.db-wal")
        #expect(try find("cut.db") == nil, "\(length)")
      }
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      #expect(try await self.edits(of: store) == edits)
      await store.close()
      #expect(try !directory.names.contains { $0.contains("damaged") })
    }

    /// A process that dies again leaves the same damage.
    @Test func areKeptOnce() async throws {
      _ = try await leave("store.db")
      try damageLog(of: "store.db", at: [32 + 4 * Self.frame + 2000])
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      try directory.write(log + Data(count: 100_000), to: "store.db.damaged.incomplete-wal")
      for _ in 0..<3 {
        await (try SQLiteStore.open(path: directory.file("store.db"))).close()
        #expect(try directory.names.filter { $0.contains("damaged") }.count == 2)
        try directory.write(file, to: "store.db")
        try directory.write(log, to: "store.db-wal")
      }
      // Another damage is not written over.
      _ = try await leave("store.db", edits: 5)
      try damageLog(of: "store.db", at: [32 + 4 * Self.frame + 2000])
      let other = try directory.contents("store.db-wal")
      let error = await #expect(throws: SyncError.self) {
        try await SQLiteStore.open(path: directory.file("store.db"))
      }
      #expect(error?.code == .storeReadOnly && error?.message.contains("put that elsewhere") == true)
      #expect(try directory.contents("store.db-wal") == other)
    }

    /// SQLite deletes a log beside an empty file, also if it only reads.
    @Test(arguments: [0, 1, nil])
    func stayBesideAnEmptyFileOrNone(_ size: Int?) async throws {
      _ = try await leave("store.db")
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      try directory.write(log, to: "young.db-wal")
      if let size { try directory.write(file.prefix(size), to: "young.db") }
      for isReadOnly in [true, false] {
        let error = await #expect(throws: SyncError.self) {
          try await SQLiteStore.open(
            path: directory.file("young.db"), configuration: .init(isReadOnly: isReadOnly))
        }
        #expect(error?.code == .storeUnreadable && error?.message.contains("its log is not") == true)
      }
      await #expect(throws: SyncError.self) { try await salvage("young.db") }
      #expect(try directory.contents("young.db-wal") == log)
    }

    /// A transaction larger than the cache leaves frames behind the log's end.
    @Test func areNoneThatARolledBackTransactionHasLeft() async throws {
      let path = directory.file("small.db")
      let store = try await SQLiteStore.open(path: path, configuration: .init(cacheSize: 64 << 10))
      try await store.register(SyncSchema(Entity("teams")))
      let lease = try await store.acquireLease(for: .seconds(60))
      func put(_ count: Int, fails: Bool) async throws {
        try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
          for number in 0..<count {
            let text = String(repeating: "x", count: 500)
            try transaction.put([
              Record(
                id: RecordID(type: "teams", key: "t\(number)"), version: .unversioned,
                payload: Payload(Array(#"{"name":"\#(text)"}"#.utf8)), fields: [])
            ])
          }
          if fails { throw SyncError(.cancelled, during: "testing") }
        }
      }
      try await put(10, fails: false)
      try? await put(5000, fails: true)
      let length = try directory.contents("small.db-wal").count
      try await put(20, fails: false)
      #expect(try directory.contents("small.db-wal").count == length, "nothing was written before its end")
      #expect(try find("small.db") == nil)
      await store.close()
    }

    @Test func areNoneWhileTheLogIsWritten() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      let writer = Task {
        for number in 0..<400 { try await rich.edit(engine, "t\(number % 40)", "\(number)") }
      }
      for _ in 0..<200 {
        #expect(try find("store.db") == nil)
        await Task.yield()
      }
      try await writer.value
      await store.close()
    }
  }
#endif
