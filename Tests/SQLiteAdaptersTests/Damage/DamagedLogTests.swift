#if SQLite
  import CanonicalSync
  import Foundation
  import Testing

  @testable import SQLiteAdapters

  /// Damage in the log of a store whose process has died.
  @Suite("A damaged log", .timeLimit(.minutes(10)))
  struct DamagedLogTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    private static let frame = 4096 + 24

    /// Files that a process leaves which dies after some edits.
    private struct Remains {
      let rich: RichStore
      let file: Data
      let log: [UInt8]
      let edits: Set<RecordID>
      /// The numbers of the frames that end a transaction, from 0 on.
      let commits: [Int]
    }

    private func remains(edits count: Int = 6) async throws -> Remains {
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      for number in 0..<count {
        try await engine.edits.perform { (batch) throws(SyncError) in
          try batch.set(RecordID(type: "teams", key: "late\(number)")) {
            $0["name"] = Array(#""Late""#.utf8)[...]
          }
        }
      }
      let (file, log) = (try directory.contents("store.db"), [UInt8](try directory.contents("store.db-wal")))
      let edits = try await self.edits(of: store)
      await store.close()
      let commits = (0..<(log.count - 32) / Self.frame).filter { frame in
        log[32 + frame * Self.frame + 4..<32 + frame * Self.frame + 8].contains { $0 > 0 }
      }
      return Remains(rich: rich, file: file, log: log, edits: edits, commits: commits)
    }

    private func edits(of store: SQLiteStore) async throws -> Set<RecordID> {
      try await store.read { (snapshot) throws(SyncError) in
        var edits: Set<RecordID> = []
        for entity in try snapshot.registeredEntities() {
          edits.formUnion(try snapshot.outbox(entity.type, after: nil, limit: 1000).map(\.id))
        }
        return edits
      }
    }

    private func lay(_ file: Data, _ log: [UInt8], _ name: String) throws -> String {
      try directory.write(file, to: name)
      try directory.write(Data(log), to: name + "-wal")
      return directory.file(name)
    }

    private func findings(of path: String) async throws -> [StoreFinding] {
      let store = try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
      let findings = try await StoreVerification(of: store).run().findings
      await store.close()
      return findings
    }

    private func salvage(_ path: String) async throws -> (edits: Set<RecordID>, report: SalvageReport) {
      let target = path + ".new"
      let store = try await SQLiteStore.open(path: target)
      let source = SQLiteSalvage(path: path, scratch: path + ".copy")
      let report = try await StoreSalvage(from: source, to: store).run()
      await source.close()
      let edits = try await edits(of: store)
      #expect(try await StoreVerification(of: store).run().findings == [])
      await store.close()
      return (edits, report)
    }

    @Test func isSoundAsItIsLeft() async throws {
      let remains = try await remains()
      #expect(remains.commits.count >= 6 && remains.log.count > 10 * Self.frame)
      let path = try lay(remains.file, remains.log, "left.db")
      #expect(try LogDamage.find(inLog: path + "-wal") == nil)
      #expect(try await findings(of: path) == [])
      // The end of a log that a death or a power failure has cut is no damage.
      for length in [remains.log.count - 100, remains.log.count - Self.frame - 5, 40, 0] {
        let path = try lay(remains.file, Array(remains.log.prefix(length)), "cut\(length).db")
        #expect(try LogDamage.find(inLog: path + "-wal") == nil)
      }
    }

    /// Places in a frame: the page's number, the size, the salts, the checksum, and the page.
    @Test(arguments: [1, 6, 9, 17, 24 + 2000])
    func isFoundAndReadBehindTheDamage(place: Int) async throws {
      let remains = try await remains()
      let last = try #require(remains.commits.dropLast().last)
      for frame in stride(from: place % 3, through: last, by: 3) {
        var log = remains.log
        log[32 + frame * Self.frame + place] ^= 0x10
        let path = try lay(remains.file, log, "damaged.db")
        #expect(try LogDamage.find(inLog: path + "-wal")?.frame == frame + 1)
        let found = try await findings(of: path)
        #expect(
          found.first?.detail.hasPrefix("Frame \(frame + 1) of the log is damaged") == true,
          "\(frame): \(found)")
        let (edits, report) = try await salvage(path)
        #expect(report.lostLocalState && report.losses.contains { $0.detail.contains("pages of the log") })
        // The damaged page can cost one edit.
        #expect(remains.edits.subtracting(edits).count <= 1, "\(frame)")
        // The damaged files are only read.
        #expect(try directory.contents("damaged.db-wal") == Data(log))
        #expect(try directory.contents("damaged.db") == remains.file)
        for name in try directory.names where name.hasPrefix("damaged.db") {
          try FileManager.default.removeItem(atPath: directory.file(name))
        }
      }
    }

    @Test func isReadWithoutItsHeader() async throws {
      let remains = try await remains()
      for place in [2, 9, 17, 26] {
        var log = remains.log
        log[place] ^= 0x20
        let path = try lay(remains.file, log, "headless\(place).db")
        #expect(try await findings(of: path).contains { $0.detail.hasPrefix("The log's header is damaged") })
        #expect(try await salvage(path).edits == remains.edits)
      }
    }

    @Test func isReadPastZeros() async throws {
      let remains = try await remains()
      var log = remains.log
      let start = 32 + 3 * Self.frame
      for place in start + 24..<start + Self.frame { log[place] = 0 }
      let path = try lay(remains.file, log, "zeros.db")
      let (edits, report) = try await salvage(path)
      #expect(edits == remains.edits && report.lostLocalState)
    }

    /// A transaction larger than the cache leaves frames behind the log's end.
    @Test func isSoundWithWhatARolledBackTransactionHasLeft() async throws {
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
      #expect(try LogDamage.find(inLog: path + "-wal") == nil)
      await store.close()
    }

    @Test func isSoundWhileItIsWritten() async throws {
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      let writer = Task {
        for number in 0..<400 { try await rich.edit(engine, "t\(number % 40)", "\(number)") }
      }
      for _ in 0..<200 {
        #expect(try LogDamage.find(inLog: rich.path + "-wal") == nil)
        await Task.yield()
      }
      try await writer.value
      await store.close()
    }
  }
#endif
