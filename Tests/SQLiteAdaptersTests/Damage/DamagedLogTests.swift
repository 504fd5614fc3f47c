#if SQLite
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
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
      let (store, report) = try await salvaged(path)
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

    /// Places in a frame: the page's number, the size, the salts, and the page.
    ///
    /// The frames are also those of the last transaction.
    @Test(arguments: [1, 6, 9, 15, 24, 24 + 2000, 24 + 4088])
    func isReadWholeIfItsFramesCanBeMended(place: Int) async throws {
      let remains = try await remains()
      let last = try #require(remains.commits.last)
      for frame in Set(stride(from: place % 3, through: last, by: 3)).union([last - 1, last]).sorted() {
        var log = remains.log
        log[32 + frame * Self.frame + place] ^= 0x10
        let path = try lay(remains.file, log, "mended\(frame).db")
        let damage = try #require(try LogDamage.find(inLog: path + "-wal"), "\(frame)")
        #expect(damage.frame == frame + 1 && !damage.mayHideOlder)
        #expect(try await !findings(of: path).isEmpty)
        let (edits, report) = try await salvage(path)
        #expect(edits == remains.edits && report.losses == [] && !report.lostLocalState, "\(frame)")
      }
    }

    @Test func restoresAFlippedBitThatNoOtherExplains() async throws {
      let remains = try await remains()
      let (frame, path) = (3, directory.file("log"))
      let start = 32 + frame * Self.frame
      let places = [0, 4] + stride(from: 24, to: Self.frame, by: 4)
      for (number, place) in places.enumerated() {
        let (byte, bit) = (number / 8 % 4, number % 8)
        var log = remains.log
        log[start + place + byte] ^= 1 << bit
        try directory.write(Data(log), to: "log")
        let (integrity, page) = try read(frame + 1, ofLog: path)
        // The highest bits of two words look alike, and so do the last word and the checksum.
        if place == places.last {
          #expect(integrity == .broken)
        } else if 8 * byte + bit < 22 {
          #expect(integrity == .mended, "\(place) \(byte) \(bit)")
        }
        if integrity == .broken { continue }
        #expect(page == Array(remains.log[start..<start + 8] + remains.log[start + 24..<start + Self.frame]))
      }
    }

    /// Returns what the checksums say of a frame, and its number, size and page.
    private func read(_ number: Int, ofLog path: String) throws -> (LogFrames.Integrity?, [UInt8]) {
      guard var frames = try LogFrames(path) else { return (nil, []) }
      while let frame = try frames.next() {
        if frame.number < number { continue }
        var start = [UInt8](repeating: 0, count: 8)
        start.set(frame.page, at: 0)
        start.set(frame.pages, at: 4)
        return (frame.integrity, start + frames.pageBytes)
      }
      return (nil, [])
    }

    /// Places in a frame: the page's number, the size, the salts, the checksum, and the page.
    ///
    /// With each, some bytes of the page are damaged too.
    @Test(arguments: [1, 6, 9, 17, 21, 24 + 2000])
    func isFoundAndReadBehindTheDamage(place: Int) async throws {
      let remains = try await remains()
      let last = try #require(remains.commits.dropLast().last)
      for frame in stride(from: place % 3, through: last, by: 3) {
        var log = remains.log
        for place in [place, 24 + 2006] { log[32 + frame * Self.frame + place] ^= 0x10 }
        let path = try lay(remains.file, log, "damaged.db")
        #expect(try LogDamage.find(inLog: path + "-wal")?.frame == frame + 1)
        let found = try await findings(of: path)
        #expect(
          found.first?.detail.hasPrefix("Frame \(frame + 1) of the log is damaged") == true,
          "\(frame): \(found)")
        let (edits, report) = try await salvage(path)
        #expect(report.lostLocalState && report.losses.contains { $0.detail.contains("of the log") })
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

    /// A damaged page that an earlier transaction has left intact in the log.
    ///
    /// If the transaction's first frame is damaged too, SQLite's own reading comes first.
    @Test(arguments: [false, true])
    func isReadWithTheIntactCopyOfADamagedEdit(startsTheTransaction: Bool) async throws {
      let remains = try await remains()
      let (key, name) = (Array("late0".utf8), Array(#""Late""#.utf8))
      var (earlier, count): (Set<UInt32>, Int) = ([], 0)
      for frame in 0...(try #require(remains.commits.last)) {
        let start = 32 + frame * Self.frame
        let page = remains.log[start + 24..<start + Self.frame]
        guard page.contains(key), page.contains(name) else { continue }
        guard !earlier.insert(Array(remains.log[start..<start + 4]).number(at: 0)).inserted else { continue }
        count += 1
        // Two bits of one word, which no checksum restores.
        var log = remains.log
        for place in page.ranges(of: name).map(\.lowerBound) { log[place + 2] ^= 3 }
        if startsTheTransaction {
          let first = try #require(remains.commits.last { $0 < frame }) + 1
          log[32 + first * Self.frame + 9] ^= 3
        }
        let path = try lay(remains.file, log, "copied\(frame).db")
        let damage = try #require(try LogDamage.find(inLog: path + "-wal"))
        #expect(damage.mayHideOlder == startsTheTransaction)
        let (store, report) = try await salvaged(path)
        let entry = try await store.read { (snapshot) throws(SyncError) in
          try snapshot.outbox("teams", after: nil, limit: 1000).first { $0.id.key == "late0" }
        }
        #expect(entry?.edit.content.payload?.bytes.contains(name) == true, "\(frame)")
        #expect(!report.losses.contains { $0.key == "late0" }, "\(frame): \(report.losses)")
        await store.close()
      }
      #expect(count > 0)
    }

    @Test func isReadWithoutItsHeader() async throws {
      let remains = try await remains()
      for (place, mask) in [(2, 0x20), (3, 1), (9, 0x20), (17, 0x20), (26, 0x20)] as [(Int, UInt8)] {
        var log = remains.log
        log[place] ^= mask
        let path = try lay(remains.file, log, "headless\(place).db")
        #expect(try await findings(of: path).contains { $0.detail.hasPrefix("The log's header is damaged") })
        #expect(try await salvage(path).edits == remains.edits)
      }
    }

    /// The header, and with it the first frames.
    @Test(arguments: [512, 4096, 9000])
    func isReadWithoutItsStart(_ count: Int) async throws {
      let remains = try await remains()
      var log = remains.log
      log.replaceSubrange(0..<count, with: repeatElement(0, count: count))
      let path = try lay(remains.file, log, "startless.db")
      #expect(try await findings(of: path).contains { $0.detail.hasPrefix("The log's header is damaged") })
      let (edits, report) = try await salvage(path)
      #expect(edits == remains.edits && report.lostLocalState)
    }

    /// SQLite deletes a log beside an empty file, also if it only reads.
    @Test(arguments: [0, 1])
    func isKeptBesideAnEmptyFile(_ size: Int) async throws {
      let remains = try await remains()
      let path = try lay(Data(remains.file.prefix(size)), remains.log, "young.db")
      for isReadOnly in [true, false] {
        let error = await #expect(throws: SyncError.self) {
          try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: isReadOnly))
        }
        #expect(error?.code == .storeUnreadable && error?.message.contains("its log is not") == true)
      }
      // What the log lacks is in the file; all is well that the log has.
      _ = try? await salvage(path)
      #expect(try directory.contents("young.db-wal") == Data(remains.log))
      #expect(try directory.contents("young.db").count == size)
    }

    @Test func isKeptBesideALostFile() async throws {
      let remains = try await remains()
      try directory.write(Data(remains.log), to: "lost.db-wal")
      for isReadOnly in [true, false] {
        let error = await #expect(throws: SyncError.self) {
          try await SQLiteStore.open(
            path: directory.file("lost.db"), configuration: .init(isReadOnly: isReadOnly))
        }
        #expect(error?.code == .storeUnreadable && error?.message.contains("it is missing") == true)
      }
      #expect(try directory.names.filter { $0.hasPrefix("lost") } == ["lost.db-wal"])
      #expect(try directory.contents("lost.db-wal") == Data(remains.log))
    }

    /// SQLite writes over the frames that it ignores, and those behind them stay.
    @Test func isReadWithTheEditsThatFollowedTheDamage() async throws {
      let remains = try await remains(edits: 12)
      var log = remains.log
      let start = try #require(remains.commits.first { $0 > 20 }) + 2
      log[32 + start * Self.frame + 700] ^= 4
      let path = try lay(remains.file, log, "later.db")
      let store = try await SQLiteStore.open(path: path)
      remains.rich.clock.advance(by: .seconds(60))
      let engine = try await remains.rich.engine(on: store)
      let late = RecordID(type: "teams", key: "late11")
      for number in 0..<2 {
        try await engine.edits.perform { (batch) throws(SyncError) in
          try batch.set(late) { $0["name"] = Array("\"again \(number)\"".utf8)[...] }
        }
      }
      let shown = try await edits(of: store)
      let copy = try lay(
        directory.contents("later.db"), [UInt8](try directory.contents("later.db-wal")), "x.db")
      await store.close()
      #expect(try LogDamage.find(inLog: copy + "-wal")?.mayHideOlder == true)
      let target = try await SQLiteStore.open(path: directory.file("new.db"))
      let source = SQLiteSalvage(path: copy, scratch: directory.file("scratch"))
      let report = try await StoreSalvage(from: source, to: target).run()
      await source.close()
      #expect(report.losses.contains { $0.detail.hasPrefix("pages of the log are damaged") })
      let salvaged = try await edits(of: target)
      #expect(shown.isSubset(of: salvaged) && shown.count < salvaged.count && report.lostLocalState)
      // The later edit of the two counts.
      let entry = try await target.read { (snapshot) throws(SyncError) in
        try snapshot.outbox("teams", after: nil, limit: 1000).first { $0.id == late }
      }
      let payload = try #require(entry?.edit.content.payload)
      #expect(String(decoding: payload.bytes, as: UTF8.self).contains("again 1"))
      #expect(try !directory.names.contains { $0.hasPrefix("scratch") })
      await target.close()
    }

    /// Damage that makes another page look like the file's first one.
    @Test func isReadThoughAPageSeemsToBeTheFirst() async throws {
      let remains = try await remains()
      // Inside a transaction.
      let frame = try #require(remains.commits.first) + 2
      try #require(!remains.commits.contains(frame))
      var log = remains.log
      let start = 32 + frame * Self.frame
      for (place, byte) in [0, 0, 0, 1].enumerated() { log[start + place] = UInt8(byte) }
      let header = Array("SQLite format 3\0".utf8)
      log.replaceSubrange(start + 24..<start + 24 + header.count, with: header)
      log[start + 24 + 100] = 13
      let path = try lay(remains.file, log, "spoilt.db")
      #expect(try await !findings(of: path).isEmpty)
      let (edits, report) = try await salvage(path)
      // At least what SQLite reads: all but the six late edits.
      #expect(report.lostLocalState && edits.isSubset(of: remains.edits))
      #expect(edits.count >= remains.edits.count - 6)
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
