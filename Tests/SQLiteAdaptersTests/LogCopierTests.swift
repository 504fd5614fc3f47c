#if SQLite
  import CanonicalSyncDatabases
  import Foundation
  import InMemoryAdapters
  import SyncModels
  import SyncPorts
  import Synchronization
  import Testing

  @testable import SQLiteAdapters

  @Suite("The copier of the log", .timeLimit(.minutes(10)))
  struct LogCopierTests {
    private let directory: TemporaryDirectory
    private let opening: StoreOpening

    init() throws {
      directory = try TemporaryDirectory(inMemory: true)
      opening = try StoreOpening(
        path: directory.file("store.db"), configuration: .init(), migrations: Migration.all)
    }

    private func writer(_ copier: LogCopier) throws -> Connection {
      let connection = try opening.openWriter()
      connection.copyLog(by: copier)
      return connection
    }

    /// Writes some pages in one transaction.
    private func write(_ pages: Int, by connection: Connection) throws {
      try connection.transaction(.write) { () throws(SyncError) in
        try connection.execute("INSERT INTO state VALUES (hex(randomblob(8)), zeroblob(\(pages * 4096)))")
      }
    }

    private func pages(_ name: String) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(name))
      return (attributes[.size] as? Int ?? 0) / 4096
    }

    @Test func copiesBesideTheWriter() async throws {
      let copier = SerialConnection(on: DispatchLane(label: "copier")) { [opening] () throws(SyncError) in
        try opening.openCopier()
      }
      // Opening a store writes some 50 pages. The first write must not reach a part as well: a copy
      // between the two writes would be the last one.
      let connection = try writer(LogCopier(beside: copier, limits: .init(part: 150, whole: 100_000)))
      let opened = try pages("store.db-wal")
      try write(60, by: connection)
      try await copier.run { _ in }
      #expect(try pages("store.db") < 60)
      try write(60, by: connection)
      while try pages("store.db") < 120 { await Task.yield() }
      // The copy is queued, so this call returns after it.
      try await copier.run { _ in }
      // Copied pages are not copied again.
      try write(60, by: connection)
      #expect(try pages("store.db-wal") < opened + 120 + 60)
      await copier.close()
    }

    @Test func copiesAfterItsConnectionCouldNotBeOpened() async throws {
      let openings = Mutex(0)
      let copier = SerialConnection(on: DispatchLane(label: "copier")) { [opening] () throws(SyncError) in
        let isFirst = openings.withLock { count in
          count += 1
          return count == 1
        }
        if isFirst { throw SyncError(.storeFailure, during: "testing", "No file can be opened.") }
        return try opening.openCopier()
      }
      let connection = try writer(LogCopier(beside: copier, limits: .init(firstPart: 150, whole: 100_000)))
      try write(200, by: connection)
      while openings.withLock(\.self) == 0 { await Task.yield() }
      // The pass is over some time after the failure.
      for _ in 0..<100 where try pages("store.db") < 200 {
        try write(100, by: connection)
        try? await copier.run { _ in }
      }
      #expect(try pages("store.db") >= 200)
      await copier.close()
    }

    @Test(arguments: [(24 << 20, 24_576), (3 << 20, 3_072), (1 << 20, 1_024)])
    func enlargesTheCacheOnceMuchIsWritten(_ bytes: Int, _ kilobytes: Int64) throws {
      let opening = try StoreOpening(
        path: directory.file("store.db"), configuration: .init(cacheSize: bytes), migrations: Migration.all)
      let connection = try opening.openWriter()
      connection.copyLog(by: LogCopier(beside: nil, limits: .init(part: 100, whole: 100_000)))
      for pages in [60, 4200] {
        try write(pages, by: connection)
        #expect(try connection.value("PRAGMA cache_size") == max(-2_000, -kilobytes))
      }
      // The size changes before a transaction, and stays when the log has restarted.
      try write(60, by: connection)
      #expect(try connection.value("PRAGMA cache_size") == -kilobytes)
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      for _ in 0..<2 { try write(60, by: connection) }
      #expect(try connection.value("PRAGMA cache_size") == -kilobytes)
    }

    @Test func enlargesTheCacheThoughTheLogRestarts() throws {
      let connection = try opening.openWriter()
      connection.copyLog(by: LogCopier(beside: nil, limits: .init(part: 100, whole: 100_000)))
      for count in 1...80 {
        try write(60, by: connection)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if count == 50 { #expect(try connection.value("PRAGMA cache_size") == -2_000) }
      }
      #expect(try connection.value("PRAGMA cache_size") == -24_576)
    }

    @Test func holdsTheWriterUpWhereTheLogIsLong() throws {
      let connection = try writer(LogCopier(beside: nil, limits: .init(part: 10, whole: 150)))
      try write(60, by: connection)
      #expect(try pages("store.db") < 60)
      for _ in 0..<20 { try write(60, by: connection) }
      #expect(try pages("store.db") > 1000)
      #expect(try pages("store.db-wal") < 250)
    }

    @Test func leavesTheLogToTheProcessThatCopiesIt() async throws {
      let connection = try writer(LogCopier(beside: nil, limits: .init(part: 10, whole: 100)))
      let reader = try opening.openReader()
      let read = try reader.transaction(.read) { () throws(SyncError) -> Int64? in
        let before = try reader.value("SELECT count(*) FROM state")
        // A reader of the old state keeps reading it, and writes succeed.
        do { for _ in 0..<4 { try write(60, by: connection) } } catch { Issue.record(error) }
        return try reader.value("SELECT count(*) FROM state") == before ? before : nil
      }
      #expect(read == 0)
      try write(60, by: connection)
      #expect(try pages("store.db") >= 300)
    }

    @Test func keepsTheLogAfterAFlushThatFailed() async throws {
      let disk = FaultyDisk(directory)
      let copier = SerialConnection(on: DispatchLane(label: "copier")) { [opening] () throws(SyncError) in
        try opening.openCopier()
      }
      do {
        let connection = try writer(
          LogCopier(beside: copier, limits: .init(part: 100, firstPart: 100, whole: 400)))
        // SQLite itself flushes the file only after a pass that copies everything.
        let reader = try opening.openReader()
        try reader.execute("BEGIN")
        _ = try reader.value("SELECT count(*) FROM state")
        disk.expect(.init(failure: .forgetful, call: 1, lasts: 1))
        for _ in 0..<10 where disk.failures == 0 {
          try write(60, by: connection)
          try? await copier.run { _ in }
        }
        #expect(disk.failures == 1)
        try reader.execute("COMMIT")
        for _ in 0..<20 {
          try write(60, by: connection)
          try? await copier.run { _ in }
        }
        #expect(try pages("store.db-wal") > 1200)
        await copier.close()
      }
      // The store was closed, and its log is still there.
      #expect(try pages("store.db-wal") > 1200)
      var random = SplitMix64(seed: 1)
      try disk.restorePower(&random)
      let connection = try opening.openWriter()
      #expect(try connection.text("PRAGMA integrity_check") == "ok")
      #expect(try #require(try connection.value("SELECT count(*) FROM state")) > 0)
    }

    @Test(arguments: [true, false])
    func keepsTheLogOfAStoreShort(_ isInline: Bool) async throws {
      let store = try await SQLiteStore.open(
        path: directory.file("store.db"), configuration: .init(executor: isInline ? .inline : .dispatch))
      for number in 0..<10 {
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.setValue(Array(repeating: 0, count: 8 << 20), forKey: "\(number)")
        }
      }
      let isCopied = { try self.pages("store.db") >= 4 << 10 }
      // The copy completes by itself or with the commits. Otherwise, the file would have almost no
      // data until the store is closed.
      while try !isCopied() { await Task.yield() }
      await store.close()
      #expect(try directory.names == ["store.db", "store.db.lease"])
    }

    /// Simulates a writer that adds 100 pages with each commit.
    ///
    /// - Parameters:
    ///   - perThousand: The number of commits during which a pass beside it copies 1,000 pages.
    ///   - atLeast: The number of commits that such a pass takes in any case.
    ///   - blockedUntil: The commit until which a reader keeps the log from restarting.
    ///   - editEvery: The number of commits of which one is an app's edit.
    private func passes(
      commits: Int, perThousand: Int, atLeast: Int = 0, blockedUntil: Int = 0,
      editEvery: Int = .max
    ) -> (beside: [Int], byWriter: [Int], longest: Int) {
      var schedule = CopySchedule(limits: .init())
      var (length, copied, longest) = (0, 0, 0)
      var (beside, byWriter): ([Int], [Int]) = ([], [])
      var underWay: (end: Int, place: Int)?
      for commit in 0..<commits {
        if let pass = underWay, pass.end <= commit {
          copied = pass.place
          schedule.passed(to: pass.place)
          underWay = nil
        }
        // The log restarts when all of it has been copied and no reader needs it.
        if copied == length, commit >= blockedUntil { (length, copied) = (0, 0) }
        length += 100
        longest = max(longest, length)
        let isEdit = commit % editEvery == editEvery - 1
        switch schedule.pass(at: length, isOnDisk: isEdit) {
        case .none: break
        case .byWriter:
          #expect(!isEdit || editEvery == 1)
          byWriter.append(length - copied)
          copied = length
        case .besideWriter:
          let part = length - copied
          beside.append(part)
          underWay = (commit + atLeast + part * perThousand / 1000, length)
        }
      }
      return (beside, byWriter, longest)
    }

    @Test func editsBesideASyncBeginShortPasses() {
      let (beside, byWriter, longest) = passes(commits: 1000, perThousand: 5, editEvery: 6)
      #expect(beside.allSatisfy { (256...1200).contains($0) || $0 < 256 && longest >= 16384 }, "\(beside)")
      #expect(beside.count { $0 >= 256 } > 100)
      #expect(longest < 2 * 16384)
      #expect(byWriter.allSatisfy { $0 <= 1200 }, "\(byWriter)")
    }

    @Test func editsAloneBeginPassesAsASyncDoes() {
      let edits = passes(commits: 1000, perThousand: 5, editEvery: 1)
      let sync = passes(commits: 1000, perThousand: 5)
      #expect(edits == sync)
    }

    @Test func theFirstPassesAreShort() {
      // The log restarts after each pass of so fast a copier.
      let (beside, byWriter, _) = passes(commits: 1000, perThousand: 1)
      #expect(beside.prefix(6) == [300, 300, 600, 1200, 2400, 4100])
      #expect(beside.dropFirst(5).prefix(3).allSatisfy { $0 >= 4096 }, "\(beside)")
      #expect(byWriter.isEmpty)
    }

    @Test func passesBecomeRarerWhileAReaderKeepsTheLogFromBeingCopied() {
      var schedule = CopySchedule(limits: .init())
      var begun: [Int] = []
      for length in stride(from: 100, to: 4000, by: 10) where schedule.pass(at: length) == .besideWriter {
        begun.append(length)
        schedule.passed(to: 50)
      }
      #expect(begun.count <= 6, "\(begun)")
    }

    @Test func aPassThatCopiesNothingShortensNoFurtherOne() {
      var schedule = CopySchedule(limits: .init())
      #expect(schedule.pass(at: 5000) == .besideWriter)
      schedule.passed(to: 5000)
      #expect(schedule.pass(at: 10_000) == .besideWriter)
      schedule.passed(to: 0)
      #expect(schedule.pass(at: 1000) == .none)
    }

    @Test func theWriterWaitsForAShortEndOnly() {
      let (beside, byWriter, longest) = passes(commits: 1000, perThousand: 5)
      #expect(byWriter.count >= 4)
      #expect(byWriter.allSatisfy { $0 <= 256 }, "\(byWriter)")
      #expect(beside.contains { $0 >= 4096 })
      #expect(longest < 2 * 16384)
    }

    @Test func passesThatDoNotBecomeShorterEnd() {
      let (_, byWriter, longest) = passes(commits: 1000, perThousand: 2, atLeast: 8)
      #expect(byWriter.count >= 4)
      #expect(byWriter.allSatisfy { (257...2048).contains($0) }, "\(byWriter)")
      #expect(longest < 2 * 16384)
    }

    @Test func theWriterEndsALogThatASlowCopierCannotEnd() {
      let (_, byWriter, longest) = passes(commits: 1000, perThousand: 40)
      #expect(!byWriter.isEmpty)
      #expect(longest < 2 * 16384 + 100)
    }

    @Test func theWriterDoesNotTryWithEachCommitWhileAReaderKeepsTheLog() {
      let (_, byWriter, longest) = passes(commits: 400, perThousand: 5, blockedUntil: 300)
      #expect(longest >= 30_000)
      #expect(byWriter.count <= 300)
      #expect(byWriter.filter { $0 > 256 }.count <= 1)
    }
  }
#endif
