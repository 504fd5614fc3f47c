#if SQLite
  import CanonicalSync
  import CanonicalSyncCSQLite
  import Foundation
  import Testing

  @testable import SQLiteAdapters

  /// Logs that SQLite ignores, and what an opening keeps of them.
  @Suite("A log that SQLite ignores", .timeLimit(.minutes(10)))
  struct LostLogTests {
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

    private func changeLog(of name: String, _ body: (inout [UInt8]) -> Void) throws {
      var log = [UInt8](try directory.contents(name + "-wal"))
      body(&log)
      try directory.write(Data(log), to: name + "-wal")
    }

    private func findings(_ name: String) async throws -> [String] {
      let store = try await SQLiteStore.open(
        path: directory.file(name), configuration: .init(isReadOnly: true))
      let findings = try await StoreVerification(of: store).run().findings
      await store.close()
      return findings.map(\.detail)
    }

    private func salvage(_ name: String) async throws -> (edits: Set<RecordID>, report: SalvageReport) {
      let (store, report) = try await salvaged(directory.file(name))
      let edits = try await edits(of: store)
      await store.close()
      return (edits, report)
    }

    @Test func isNamedIfNothingOfItCanBeRead() async throws {
      _ = try await leave("store.db")
      try changeLog(of: "store.db") { log in for place in log.indices { log[place] = 0 } }
      #expect(try await findings("store.db").contains { $0.hasPrefix("The log cannot be read") })
      let report = try await salvage("store.db").report
      #expect(
        report.lostLocalState && report.losses.contains { $0.detail.hasPrefix("the log cannot be read") })
    }

    /// The pages of an earlier generation are all in the file, which has newer ones.
    @Test func isNotReadFirstIfItMayBeOfAnEarlierGeneration() async throws {
      let rich = try await RichStore(path: directory.file("source.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      for number in 0..<50 { try await rich.edit(engine, "late\(number)", "\"early\"") }
      try await store.execute("PRAGMA wal_checkpoint(RESTART)")
      try await rich.edit(engine, "late7", "\"last\"")
      try await store.execute("PRAGMA wal_checkpoint(PASSIVE)")
      let edits = try await edits(of: store)
      for suffix in ["", "-wal"] {
        try directory.write(directory.contents("source.db" + suffix), to: "store.db" + suffix)
      }
      await store.close()
      let path = directory.file("store.db")
      let length = try generationLength(path + "-wal")
      try #require(length > 0 && length < 30)
      try changeLog(of: "store.db") { log in
        log.replaceSubrange(
          0..<32 + length * Self.frame, with: repeatElement(0, count: 32 + length * Self.frame))
      }
      #expect(try LogDamage.find(inLog: path + "-wal")?.mayHideOlder == true)
      let (target, _) = try await salvaged(path)
      #expect(try await self.edits(of: target) == edits)
      let entry = try await target.read { (snapshot) throws(SyncError) in
        try snapshot.outbox(for: [RecordID(type: "teams", key: "late7")]).first
      }
      let payload = try #require(entry?.edit.content.payload)
      #expect(String(decoding: payload.bytes, as: UTF8.self).contains("last"))
      await target.close()
    }

    /// The number of frames of a log's last generation.
    private func generationLength(_ path: String) throws -> Int {
      guard var frames = try LogFrames(path) else { return 0 }
      var count = 0
      while let frame = try frames.next() { if frame.integrity == .intact { count = frame.number } }
      return count
    }

    // MARK: Opening for writing

    /// SQLite writes over the transactions that it ignores, and closing removes the log.
    @Test(arguments: [[2000], [2000, 2100], [-8]])
    func isKeptWhenTheStoreIsOpened(_ places: [Int]) async throws {
      let (rich, edits) = try await leave("store.db")
      try changeLog(of: "store.db") { log in
        let start = 32 + 4 * Self.frame
        // The last of them is in the log's header.
        for place in places { log[place < 0 ? -place : start + place] ^= 0x10 }
      }
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      let engine = try await rich.engine(on: store)
      try await rich.edit(engine, "after", "\"after\"")
      let shown = try await self.edits(of: store)
      #expect(shown.count < edits.count)
      await store.close()
      #expect(try directory.contents("store.db.damaged") == file)
      #expect(try directory.contents("store.db.damaged-wal") == log)
      #expect(try directory.permissions("store.db.damaged") == 0o600)
      let found = try await findings("store.db")
      #expect(found.count == 1 && found[0].contains("store.db.damaged has what SQLite ignored"))
      let own = try await salvage("store.db").report
      #expect(
        own.lostLocalState && own.losses.contains { $0.detail.contains("store.db.damaged has transactions") })
      #expect(try await salvage("store.db.damaged").edits.isSuperset(of: edits))
      for name in ["store.db.damaged", "store.db.damaged-wal"] {
        try FileManager.default.removeItem(atPath: directory.file(name))
      }
      #expect(try await findings("store.db") == [])
    }

    /// A process that dies again leaves the same damage.
    @Test func isKeptOnce() async throws {
      _ = try await leave("store.db")
      try changeLog(of: "store.db") { log in log[32 + 4 * Self.frame + 2000] ^= 0x10 }
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      for _ in 0..<3 {
        await (try SQLiteStore.open(path: directory.file("store.db"))).close()
        try directory.write(file, to: "store.db")
        try directory.write(log, to: "store.db-wal")
      }
      let kept = try directory.names.filter { $0.contains("damaged") && !$0.hasSuffix("-wal") }
      #expect(kept == ["store.db.damaged"])
      // Another damaged log gets another name.
      _ = try await leave("store.db", edits: 5)
      try changeLog(of: "store.db") { log in log[32 + 4 * Self.frame + 2000] ^= 0x10 }
      await (try SQLiteStore.open(path: directory.file("store.db"))).close()
      #expect(try directory.names.contains("store.db.damaged-2"))
    }

    /// The later damage hides edits that were made after the first.
    @Test func isKeptAgainIfItHidesLaterEdits() async throws {
      let (rich, _) = try await leave("store.db")
      try changeLog(of: "store.db") { log in log[32 + 6 * Self.frame + 2000] ^= 0x10 }
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      try await rich.edit(try await rich.engine(on: store), "last", "\"last\"")
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      await store.close()
      try directory.write(file, to: "store.db")
      try directory.write(log, to: "store.db-wal")
      try changeLog(of: "store.db") { log in log[32 + 2 * Self.frame + 2000] ^= 0x10 }
      await (try SQLiteStore.open(path: directory.file("store.db"))).close()
      let kept = try await salvage("store.db.damaged-2").edits
      #expect(kept.contains(RecordID(type: "teams", key: "last")))
    }

    /// The file has pages of the transactions that the log hides.
    @Test func isNotUsedIfTheFileIsAheadOfWhatSQLiteReads() async throws {
      let rich = try await RichStore(path: directory.file("source.db"))
      let source = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: source)
      for number in 0..<200 { try await rich.edit(engine, "late\(number)", "\"early\"") }
      try await source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      // On many pages, of which the first transactions have few.
      for number in stride(from: 0, to: 200, by: 10) {
        try await rich.edit(engine, "late\(number)", "\"late\"")
      }
      try await source.execute("PRAGMA wal_checkpoint(PASSIVE)")
      for suffix in ["", "-wal"] {
        try directory.write(directory.contents("source.db" + suffix), to: "store.db" + suffix)
      }
      let edits = try await edits(of: source)
      await source.close()
      // In the second transaction.
      try changeLog(of: "store.db") { log in log[32 + 14 * Self.frame + 2000] ^= 0x10 }
      let (file, log) = (try directory.contents("store.db"), try directory.contents("store.db-wal"))
      for _ in 0..<2 {
        let error = await #expect(throws: SyncError.self) {
          try await SQLiteStore.open(path: directory.file("store.db"))
        }
        #expect(error?.code == .storeUnreadable && error?.message.contains("contradicts itself") == true)
      }
      #expect(try directory.contents("store.db") == file && directory.contents("store.db-wal") == log)
      #expect(try !directory.names.contains { $0.contains("damaged") })
      #expect(try await salvage("store.db").edits.isSuperset(of: edits))
    }

    /// Another connection could do that between the copies of the file and the log.
    @Test func isNotBegunAnewDuringASalvage() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      try await rich.edit(engine, "first", "\"first\"")
      let reader = try Connection(
        uri: StoreOpening.uri(rich.path), flags: SQLITE_OPEN_READONLY, busyTimeout: .zero)
      let writer = try Connection(
        uri: StoreOpening.uri(rich.path), flags: SQLITE_OPEN_READWRITE, busyTimeout: .zero)
      let opening = SalvageOpening(path: rich.path, scratch: directory.file("scratch"))
      let isBusy = try opening.holding(rich.path, by: reader) { () throws(SyncError) in
        try writer.value("PRAGMA wal_checkpoint(RESTART)")
      }
      #expect(isBusy == 1)
      #expect(try writer.value("PRAGMA wal_checkpoint(RESTART)") == 0)
      await store.close()
    }

    /// The first copy was cut off by the death of its process.
    @Test func isKeptBesideAnIncompleteCopy() async throws {
      _ = try await leave("store.db")
      try changeLog(of: "store.db") { log in log[32 + 4 * Self.frame + 2000] ^= 0x10 }
      let log = try directory.contents("store.db-wal")
      for suffix in ["", "-wal"] {
        try directory.write(log + Data(count: 100_000), to: "store.db.damaged.incomplete" + suffix)
      }
      try directory.write(log.prefix(40_000), to: "store.db.damaged-wal")
      await (try SQLiteStore.open(path: directory.file("store.db"))).close()
      #expect(try directory.contents("store.db.damaged-wal") == log)
      #expect(try !directory.names.contains { $0.contains("incomplete") })
    }

    /// A process that has read the log before it was damaged knows its transactions.
    @Test func isNotKeptWhileAProcessKnowsIt() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      for number in 0..<6 { try await rich.edit(engine, "late\(number)", "\"late\"") }
      let edits = try await edits(of: store)
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: rich.path + "-wal"))
      // In a page that a later transaction has written again.
      try handle.seek(toOffset: UInt64(32 + 4 * Self.frame + 24 + 4000))
      let byte = try #require(try handle.read(upToCount: 1)?.first)
      try handle.seek(toOffset: UInt64(32 + 4 * Self.frame + 24 + 4000))
      try handle.write(contentsOf: [byte ^ 0x10])
      try handle.close()
      #expect(try LogDamage.find(inLog: rich.path + "-wal") != nil)
      let other = try await SQLiteStore.open(path: rich.path)
      #expect(try await self.edits(of: other) == edits)
      #expect(try !directory.names.contains { $0.contains("damaged") })
      let found = try await StoreVerification(of: other).run().findings
      #expect(found.map(\.detail).contains { $0.hasSuffix("later ones will not") }, "\(found)")
      await other.close()
      await store.close()
    }

    @Test func isNotKeptIfItIsWhole() async throws {
      let (_, edits) = try await leave("store.db")
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      #expect(try await self.edits(of: store) == edits)
      await store.close()
      #expect(try !directory.names.contains { $0.contains("damaged") })
    }

    @Test func isRefusedIfItCannotBeKept() async throws {
      _ = try await leave("store.db")
      try changeLog(of: "store.db") { log in log[32 + 4 * Self.frame + 2000] ^= 0x10 }
      let log = try directory.contents("store.db-wal")
      for number in 1...9 {
        let name = "store.db.damaged" + (number == 1 ? "" : "-\(number)")
        try directory.write(Data("mine".utf8), to: name)
      }
      let error = await #expect(throws: SyncError.self) {
        try await SQLiteStore.open(path: directory.file("store.db"))
      }
      #expect(error?.code == .storeReadOnly && error?.message.contains("9 copies") == true)
      #expect(try directory.contents("store.db-wal") == log)
    }
  }
#endif
