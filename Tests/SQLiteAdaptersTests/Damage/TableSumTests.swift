#if SQLite
  import CanonicalSync
  import CanonicalSyncCSQLite
  import Foundation
  import InMemoryAdapters
  import Testing

  @testable import SQLiteAdapters

  @Suite("The sums of a store's rows", .timeLimit(.minutes(10)))
  struct TableSumTests {
    /// SQL that nothing else in the store contradicts, and the part of the finding.
    static let consistentDamages: [(sql: String, part: StoreFinding.Part)] = [
      ("DELETE FROM rows_games WHERE id = 'g9'", .rows),
      ("UPDATE rows_games SET id = 'g9x' WHERE id = 'g9'", .rows),
      ("UPDATE rows_games SET row = 999 WHERE id = 'g9'", .rows),
      (
        """
        INSERT INTO rows_games (id, version_epoch, version_sequence, version_modified_at, schema_version, payload, f0, f1) \
        SELECT 'more', version_epoch, version_sequence, version_modified_at, schema_version, payload, f0, f1 \
        FROM rows_games WHERE id = 'g9'
        """, .rows
      ),
      ("DELETE FROM set_aside WHERE kind = 'parked'", .withheld),
      ("UPDATE set_aside SET fence = fence + 1 WHERE kind = 'parked'", .withheld),
      ("UPDATE set_aside SET reason = reason || '.'", .withheld),
      ("DELETE FROM conflicts", .conflicts),
      ("UPDATE conflicts SET id = 'other', settled_at = settled_at - 1", .conflicts),
      ("UPDATE marks SET bits = zeroblob(512)", .values),
      ("DELETE FROM marks", .values),
      ("DELETE FROM state WHERE key NOT GLOB 'checkpoint/*'", .values),
      ("UPDATE state SET key = key || '2' WHERE key NOT GLOB 'checkpoint/*'", .values),
      ("DELETE FROM changes WHERE position = (SELECT max(position) FROM changes)", .values),
      ("UPDATE changes SET records = NULL", .values),
      (
        "UPDATE entities SET declaration = replace(declaration, '\"schemaVersion\":1', '\"schemaVersion\":2')",
        .schema
      ),
      ("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'identity'", .schema),
      ("INSERT INTO meta VALUES ('moved', 'elsewhere')", .schema),
      ("INSERT INTO meta VALUES ('references/teams', 0)", .schema),
      ("UPDATE meta SET value = zeroblob(64) WHERE key = 'sums'", .rows),
      ("UPDATE meta SET value = 1 WHERE key = 'sums'", .values),
      ("DELETE FROM meta WHERE key = 'sums'", .values),
    ]

    private static func findings(_ store: SQLiteStore) async throws -> [StoreFinding] {
      try await StoreVerification(of: store).run().findings
    }

    @Test func showWhatContradictsNothingElse() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      _ = try await RichStore(path: directory.file("store.db"))
      let template = try directory.contents("store.db")
      for (number, damage) in Self.consistentDamages.enumerated() {
        try directory.write(template, to: "d\(number).db")
        let store = try await SQLiteStore.open(path: directory.file("d\(number).db"))
        #expect(try await Self.findings(store) == [])
        try await store.execute(damage.sql)
        let findings = try await Self.findings(store)
        #expect(findings.contains { $0.part == damage.part }, "\(damage.sql): \(findings)")
        await store.close()
      }
    }

    @Test func showEachBitAndEachExchangeOfBytes() {
      func digest(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { RowDigest.digest(of: $0) } }
      var random = SplitMix64(seed: 1)
      var seen: Set<UInt64> = []
      for length in Array(0...140) + [350, 4096] {
        let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        seen.insert(digest(Array(repeating: 0, count: length)))
        let intact = digest(bytes)
        for place in bytes.indices {
          var damaged = bytes
          damaged[place] ^= 1 << UInt8(place % 8)
          #expect(digest(damaged) != intact, "\(length), \(place)")
          damaged = bytes
          damaged.swapAt(place, (place + 8) % length)
          #expect(digest(damaged) != intact || damaged == bytes, "\(length), \(place)")
        }
      }
      #expect(seen.count == 143)
      // Columns and rows cannot exchange values.
      var (one, other) = (
        RowDigest(SummedTable.conflicts.seed, row: 1), RowDigest(SummedTable.conflicts.seed, row: 1)
      )
      one.add("a", at: 1)
      one.add("b", at: 2)
      other.add("b", at: 1)
      other.add("a", at: 2)
      #expect(one.sum != other.sum)
      var typed = [RowDigest](repeating: RowDigest(SummedTable.conflicts.seed, row: 1), count: 3)
      typed[0].add("1", at: 1)
      typed[1].add([UInt8(ascii: "1")][...], at: 1)
      typed[2].add(1, at: 1)
      #expect(Set(typed.map(\.sum)).count == 3)
    }

    /// A file of each former layout gets its sums when it is opened.
    @Test(arguments: 5...10)
    func comeToAFileThatIsOlder(_ step: Int) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let old = try await SQLiteStore.open(path: rich.path)
      try await old.undoSteps(after: step)
      await old.close()
      let store = try await SQLiteStore.open(path: rich.path)
      #expect(try await store.number("SELECT count(*) FROM meta WHERE key = 'sums'") == 1)
      #expect(try await Self.findings(store) == [])
      // Checksums come with the next write of a row.
      let unchecked = "SELECT count(*) FROM rows_games WHERE checksum IS NULL"
      let count = try #require(try await store.number(unchecked))
      #expect(step == 10 ? count == 0 : count > 10)
      let checked = try await store.number("SELECT count(*) FROM outbox WHERE checksum IS NOT NULL")
      #expect(step == 10 || checked == 0)
      let engine = try await rich.engine(on: store)
      rich.remote.upsert("games", "g9", #"{"home":"t1","date":"2026-02-01"}"#)
      _ = try await engine.sync()
      #expect(try await Self.findings(store) == [])
      #expect(try #require(try await store.number(unchecked)) < max(1, count))
      try await store.execute("DELETE FROM rows_games WHERE id = 'g9'")
      #expect(try await Self.findings(store) != [])
      await store.close()
    }

    /// A process with an older version may write while this one creates a file's layout.
    @Test func comeToRowsThatAppearBetweenTheStepsOfANewFile() throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let connection = try Connection(
        uri: directory.file("store.db"), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        busyTimeout: .zero)
      let other = Migration("a write of another process", ["INSERT INTO state VALUES ('key', x'01')"])
      let place = try #require(Migration.all.firstIndex { $0.name == "sums of rows" })
      try connection.migrate(by: Migration.all[..<place] + [other] + Migration.all[place...])
      let (stored, counted) = (try connection.storedSums(), try connection.countedSums())
      #expect(stored?[.values] == counted[.values])
      #expect(counted[.values] != 0)
    }

    /// Damaged sums stay so, and prevent no write.
    @Test(arguments: [
      "DELETE FROM meta WHERE key = 'sums'", "UPDATE meta SET value = 'x' WHERE key = 'sums'",
    ])
    func preventNothingWhenTheyAreDamaged(_ sql: String) async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      try await store.execute(sql)
      let engine = try await rich.engine(on: store)
      rich.remote.upsert("games", "g9", #"{"home":"t1","date":"2026-02-01"}"#)
      #expect(try await engine.sync()["games"].updated == 1)
      let findings = try await Self.findings(store)
      #expect(findings.count == 1 && findings.first?.part == .values, "\(findings)")
      await store.close()
    }

    @Test func areThoseOfTheCommittedRows() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let rich = try await RichStore(path: directory.file("store.db"))
      let (one, other) = (
        try await SQLiteStore.open(path: rich.path), try await SQLiteStore.open(path: rich.path)
      )
      let engines = [try await rich.engine(on: one), try await rich.engine(on: other)]
      for round in 0..<12 {
        let engine = engines[round % 2]
        rich.remote.upsert("teams", "t\(round)", #"{"name":"again \#(round)"}"#)
        rich.remote.delete("games", "g\(round + 2)")
        try await rich.edit(engine, "t\(round + 10)", "\"round \(round)\"")
        // What throws after its writes leaves nothing.
        await #expect(throws: SyncError.self) {
          try await one.write(.app) { (transaction) throws(SyncError) in
            try transaction.setValue([1], forKey: "never")
            throw SyncError(.storeFailure, during: "testing")
          }
        }
        _ = try await engine.sync()
        if round % 4 == 3 { _ = try await engine.sync(SyncRequest(fullPull: ["teams", "games"])) }
        #expect(try await Self.findings(other) == [], "round \(round)")
      }
      try await one.copy(to: directory.file("copy.db"))
      #expect(try await directory.tablesWithWrongSums(in: "copy.db") == [])
      await one.close()
      await other.close()
    }
  }
#endif
