#if SQLite
  import CanonicalSync
  import SyncAdapters
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncMaintenance
  import Testing

  @Suite("The verification of a store", .timeLimit(.minutes(10)))
  struct VerificationTests {
    private static func verify(_ path: String) async throws -> VerificationReport {
      let store = try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
      let report = try await StoreVerification(of: store).run()
      await store.close()
      return report
    }

    @Test func findsNothingInASoundStore() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let report = try await Self.verify(rich.path)
      #expect(report.findings == [] && report.isSound)
      for (part, least) in [(StoreFinding.Part.rows, 55), (.outbox, 4), (.withheld, 5), (.conflicts, 1)] {
        #expect(report.checked[part] ?? 0 >= least, "\(part)")
      }
      let empty = try await SQLiteStore.open(path: directory.file("empty.db"))
      #expect(try await StoreVerification(of: empty).run().findings == [])
      await empty.close()
    }

    /// SQL that damages the store, and the part that the finding has to name.
    static let damages: [(sql: String, part: StoreFinding.Part)] = [
      ("UPDATE rows_games SET f0 = 't2' WHERE id = 'g3'", .rows),
      ("UPDATE rows_games SET payload = x'7b' WHERE id = 'g3'", .rows),
      ("DELETE FROM rows_teams WHERE id = 't9'", .references),
      ("UPDATE rows_teams SET payload = NULL, schema_version = NULL WHERE id = 't9'", .references),
      ("UPDATE rows_teams SET f1 = 'other' WHERE id = 't9'", .rows),
      ("UPDATE rows_teams SET f2 = '=other' WHERE id = 't9'", .naturalKeys),
      ("UPDATE set_aside_counts SET entries = entries + 1", .counts),
      ("DELETE FROM set_aside_counts", .counts),
      ("UPDATE outbox_counts SET entries = entries - 1", .counts),
      ("DELETE FROM waiting", .withheld),
      ("DELETE FROM set_aside_references", .withheld),
      ("UPDATE set_aside SET kind = 'x'", .counts),
      ("UPDATE set_aside SET record_key = 'other' WHERE kind = 'parked'", .withheld),
      ("UPDATE outbox SET payload = x'7b' WHERE id = 't6'", .outbox),
      ("UPDATE outbox SET payload = x'7b7d' WHERE id = 't6'", .outbox),
      ("UPDATE outbox SET base_sequence = base_sequence + 1 WHERE id = 't6'", .outbox),
      ("UPDATE outbox SET state = 'x' WHERE id = 't6'", .outbox),
      ("UPDATE outbox SET id = 't39' WHERE id = 't6'", .outbox),
      ("DELETE FROM outbox_leaves", .outbox),
      ("UPDATE outbox SET leaves = NULL WHERE id = 't3'", .outbox),
      ("UPDATE conflicts SET winner = 'x'", .conflicts),
      ("UPDATE conflicts SET local_payload = x'7b'", .conflicts),
      ("UPDATE state SET value = x'7b' WHERE key = 'checkpoint/teams'", .values),
      ("UPDATE entities SET declaration = 'x' WHERE type = 'games'", .schema),
      ("DELETE FROM entities", .outbox),
      ("DROP TABLE conflicts", .conflicts),
    ]

    @Test func findsEachContradiction() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let template = try directory.contents("store.db")
      for (number, damage) in Self.damages.enumerated() {
        try directory.write(template, to: "d\(number).db")
        let store = try await SQLiteStore.open(path: directory.file("d\(number).db"))
        try await store.execute(damage.sql)
        await store.close()
        let report = try await Self.verify(directory.file("d\(number).db"))
        let parts = Set(report.findings.map(\.part))
        #expect(parts.contains(damage.part), "\(damage.sql): \(report.findings)")
        let contents = ["theirs", "ours", "\"name\""]
        for finding in report.findings {
          #expect(!contents.contains { finding.description.contains($0) }, "\(finding)")
        }
      }
      _ = rich
    }

    @Test func findsNothingInACopyAndGivesItALog() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      try await store.copy(to: directory.file("copy.db"))
      await store.close()
      #expect(try await Self.verify(directory.file("copy.db")).findings == [])
      let copy = try await SQLiteStore.open(path: directory.file("copy.db"))
      try await rich.edit(try await rich.engine(on: copy), "t1", "1")
      #expect(try directory.names.contains("copy.db-wal"))
      await copy.close()
    }

    /// Indexes are compared with their tables unless the check is a quick one.
    @Test func comparesIndexesWithTheirTables() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let root = try #require(
        try await store.number("SELECT rootpage FROM sqlite_schema WHERE name = 'conflicts.settled_at'"))
      await store.close()
      var bytes = [UInt8](try directory.contents("store.db"))
      // The last byte of an entry.
      bytes[Int(root) * 4096 - 1] ^= 1
      try directory.write(.init(bytes), to: "store.db")
      let damaged = try await SQLiteStore.open(path: rich.path, configuration: .init(isReadOnly: true))
      #expect(try await damaged.formatFindings(limit: 9, isQuick: true) == [])
      #expect(try await !damaged.formatFindings(limit: 9, isQuick: false).isEmpty)
      #expect(try await StoreVerification(of: damaged, isQuick: true).run().isSound)
      #expect(try await !StoreVerification(of: damaged).run().isSound)
      await damaged.close()
    }

    @Test func findsPagesThatSQLiteCannotRead() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      _ = try await RichStore(path: directory.file("store.db"))
      var bytes = [UInt8](try directory.contents("store.db"))
      for place in 8192..<12288 { bytes[place] = 0xFF }
      try directory.write(.init(bytes), to: "store.db")
      let report = try await Self.verify(directory.file("store.db"))
      #expect(report.findings.contains { $0.part == .file || $0.part == .schema })
    }

    @Test func keepsTheFirstFindingsAndCountsAll() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      try await store.execute("UPDATE rows_games SET f1 = 'x'")
      let report = try await StoreVerification(of: store, limit: 3).run()
      #expect(report.findings.count == 3 && report.count > 15 && !report.isSound)
      await store.close()
    }

    @Test func runsBesideASyncAndStopsOnRequest() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let engine = try await rich.engine(on: store)
      for number in 100..<800 { rich.remote.upsert("teams", "t\(number)", #"{"name":"N\#(number)"}"#) }
      async let result = engine.sync()
      var reports: [VerificationReport] = []
      for _ in 0..<5 { reports.append(try await StoreVerification(of: store).run()) }
      _ = try await result
      #expect(reports.flatMap(\.findings) == [])
      let stop = CancellationSource()
      stop.cancel()
      await #expect(throws: SyncError.self) { try await StoreVerification(of: store).run(token: stop) }
      await store.close()
    }
  }
#endif
