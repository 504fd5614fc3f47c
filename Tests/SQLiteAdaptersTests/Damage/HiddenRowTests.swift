#if SQLite
  import CanonicalSync
  import SyncAdapters
  import Foundation
  import SyncMaintenance
  import Testing

  @testable import SQLiteAdapters

  /// Damage that hides rows from a walk through their table.
  @Suite("Rows behind damage", .timeLimit(.minutes(10)))
  struct HiddenRowTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    private struct Salvaged {
      let edits: [RecordID: OutboxEntry]
      let conflicts: Int
      let report: SalvageReport
    }

    private func salvage(_ path: String) async throws -> Salvaged {
      let (store, report) = try await salvaged(path)
      let (edits, conflicts) = try await localState(of: store)
      await store.close()
      return Salvaged(edits: edits, conflicts: conflicts, report: report)
    }

    private func localState(of store: SQLiteStore) async throws -> ([RecordID: OutboxEntry], Int) {
      try await store.read { (snapshot) throws(SyncError) in
        let edits = try snapshot.outbox("teams", after: nil, limit: 10_000)
        return (
          Dictionary(edits.map { ($0.id, $0) }) { first, _ in first },
          try snapshot.conflicts(nil, before: nil, limit: 10_000).count
        )
      }
    }

    /// A store with many edits.
    private func withEdits(_ count: Int) async throws -> (path: String, edits: [RecordID: OutboxEntry]) {
      let path = directory.file("store.db")
      let rich = try await RichStore(path: path)
      let store = try await SQLiteStore.open(path: path)
      let engine = try await rich.engine(on: store)
      try await engine.edits.perform { (batch) throws(SyncError) in
        for number in 0..<count {
          try batch.set(RecordID(type: "teams", key: "e\(number)")) {
            $0["name"] = Array("\"E\(number)\"".utf8)[...]
          }
        }
      }
      let edits = try await localState(of: store).0
      await store.close()
      return (path, edits)
    }

    /// The place of a row's number in a table's file.
    private func place(ofRow number: Int64, table: String, in path: String) async throws -> Int {
      let store = try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
      var pages: [Int64] = []
      while let page = try await store.number(
        """
        SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' LIMIT 1 OFFSET \(pages.count)
        """)
      {
        pages.append(page)
      }
      await store.close()
      try #require(!pages.isEmpty, "this SQLite has no dbstat")
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      for page in pages {
        let start = Int(page - 1) * 4096
        let cells = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        for cell in 0..<cells {
          let pointer = start + 8 + 2 * cell
          var place = start + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
          while bytes[place] & 0x80 != 0 { place += 1 }
          let first = place + 1
          var (value, next) = (Int64(0), first)
          repeat {
            value = value << 7 | Int64(bytes[next] & 0x7F)
            next += 1
          } while bytes[next - 1] & 0x80 != 0
          if value == number { return first }
        }
      }
      throw SyncError(.storeUnreadable, during: "looking for row \(number)")
    }

    private func change(_ path: String, _ body: (inout [UInt8]) -> Void) throws {
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      body(&bytes)
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// The number seems to be the last one that a walk has to reach.
    @Test(arguments: [300, 400, 407, 800])
    func areReadBehindANumberThatIsTooHigh(_ row: Int64) async throws {
      let (path, edits) = try await withEdits(2000)
      let place = try await place(ofRow: row, table: "outbox", in: path)
      try change(path) { $0[place] ^= 0x40 }
      let salvaged = try await salvage(path)
      // The row itself too, which no number leads to.
      let different = edits.keys.filter { salvaged.edits[$0] != edits[$0] }.sorted()
      #expect(different == [], "\(salvaged.report.losses)")
      #expect(salvaged.report.types["teams"]?.edits == edits.count)
    }

    /// The other one is on the same page, or beyond the portion.
    @Test(
      arguments: [(1565, 1), (1564, 1), (400, 0x40), (400, 0x02), (800, 0x10), (1601, 0x01)]
        as [(Int64, UInt8)])
    func areReadOrNamedIfARowHasTheNumberOfAnother(_ row: Int64, _ flipped: UInt8) async throws {
      let (path, edits) = try await withEdits(2000)
      let place = try await place(ofRow: row, table: "outbox", in: path)
      try change(path) { $0[place + 1] ^= flipped }
      let salvaged = try await salvage(path)
      #expect(salvaged.edits.allSatisfy { edits[$0] == $1 })
      let lost = Set(edits.keys).subtracting(salvaged.edits.keys)
      let named = Set(salvaged.report.losses.compactMap(\.key))
      #expect(lost.count <= 2 && named.isSuperset(of: lost.map(\.key)), "\(lost.sorted())")
      #expect(lost.isEmpty || salvaged.report.lostLocalState)
    }

    /// The page's count of cells is damaged, and SQLite finds no fault.
    @Test func areReadByTheIndexIfTheirPageSeemsEmpty() async throws {
      let (path, edits) = try await withEdits(500)
      let place = try await place(ofRow: 250, table: "outbox", in: path)
      try change(path) { $0[place / 4096 * 4096 + 4] = 1 }
      let salvaged = try await salvage(path)
      #expect(salvaged.edits.count < edits.count && salvaged.report.lostLocalState)
      let named = Set(salvaged.report.losses.compactMap(\.key)).union(salvaged.edits.keys.map(\.key))
      #expect(named.isSuperset(of: edits.keys.map(\.key)))
    }

    /// The least number is far from 1, because older rows have gone.
    @Test func areReadBehindADamagedFirstPage() async throws {
      let path = directory.file("store.db")
      let rich = try await RichStore(path: path)
      let store = try await SQLiteStore.open(path: path)
      _ = try await rich.engine(on: store)
      try await store.execute("DELETE FROM conflicts")
      try await store.execute("UPDATE sqlite_sequence SET seq = 5000 WHERE name = 'conflicts'")
      let stamp = EditStamp(physical: Timestamp(microseconds: 1), replica: "r")
      try await store.write(.app) { (transaction) throws(SyncError) in
        var changes = StoreChanges()
        changes.conflicts = (0..<500).map { number in
          let id = RecordID(type: "teams", key: "t\(number)")
          return Conflict(
            id: id, settledAt: Timestamp(microseconds: Int64(number)), local: Edit(.deletion, stamp: stamp),
            remote: .tombstone(Tombstone(id: id, version: .unversioned)), remoteStamp: stamp, base: nil,
            winner: .remote, reason: "a test")
        }
        try transaction.apply(changes)
      }
      await store.close()
      let place = try await place(ofRow: 5001, table: "conflicts", in: path)
      var lost = 0
      try change(path) { bytes in
        let page = place / 4096 * 4096
        lost = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
        bytes.replaceSubrange(page..<page + 4096, with: repeatElement(0, count: 4096))
      }
      let salvaged = try await salvage(path)
      #expect(lost > 20 && salvaged.conflicts == 500 - lost)
      #expect(salvaged.report.lost[.conflicts] ?? 0 > 0)
    }

    /// A leaf of the kept values that seems to have fewer.
    @Test func ofKeptValuesAreListed() async throws {
      let path = directory.file("store.db")
      _ = try await RichStore(path: path)
      let store = try await SQLiteStore.open(path: path)
      let root = try #require(
        try await store.number("SELECT rootpage FROM sqlite_schema WHERE name = 'state'"))
      await store.close()
      try change(path) { bytes in
        let page = Int(root - 1) * 4096
        #expect(bytes[page] == 13 && bytes[page + 4] > 3)
        bytes[page + 4] = 1
      }
      let salvaged = try await salvage(path)
      #expect(
        salvaged.report.losses.contains { $0.part == .values && $0.key?.hasPrefix("throttle/") == true })
      #expect(salvaged.report.lostLocalState)
    }
  }
#endif
