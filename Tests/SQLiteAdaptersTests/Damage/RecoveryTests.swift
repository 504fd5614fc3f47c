#if SQLite
  import CanonicalSync
  import SyncAdapters
  import Foundation
  import SyncMaintenance
  import Testing

  @testable import SQLiteAdapters

  /// Files that SQLite refuses whole, and the program that may recover them.
  @Suite("The recovery of a store", .timeLimit(.minutes(10)))
  struct RecoveryTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    /// Makes a store of which SQLite reads nothing, and returns what it had.
    private func refused() async throws -> (rich: RichStore, edits: [OutboxEntry]) {
      let rich = try await RichStore(path: directory.file("store.db"))
      let store = try await SQLiteStore.open(path: rich.path)
      let edits = try await edits(of: store)
      await store.close()
      try FileManager.default.copyItem(atPath: rich.path, toPath: directory.file("intact.db"))
      var bytes = try directory.contents("store.db")
      bytes.replaceSubrange(0..<100, with: repeatElement(0xAA, count: 100))
      try directory.write(bytes, to: "store.db")
      return (rich, edits)
    }

    private func edits(of store: SQLiteStore) async throws -> [OutboxEntry] {
      try await store.read { (snapshot) throws(SyncError) in
        var edits: [OutboxEntry] = []
        for entity in RichStore.entities {
          edits += try snapshot.outbox(entity.type, after: nil, limit: 1000)
        }
        return edits
      }
    }

    private func salvage(by program: String) async throws -> (edits: [OutboxEntry], report: SalvageReport) {
      let before = try directory.contents("store.db")
      let store = try await SQLiteStore.open(path: directory.file("new.db"))
      let source = SQLiteSalvage(
        path: directory.file("store.db"), scratch: directory.file("scratch"), program: program)
      do {
        let report = try await StoreSalvage(from: source, to: store).run()
        await source.close()
        let edits = try await edits(of: store)
        await store.close()
        try expectFiles(before)
        return (edits, report)
      } catch {
        await source.close()
        await store.close()
        try expectFiles(before)
        throw error
      }
    }

    private func expectFiles(_ before: Data) throws {
      #expect(try directory.contents("store.db") == before)
      #expect(try !directory.names.contains { $0.hasPrefix("scratch") })
    }

    /// Writes a program that answers `.recover` with statements, as SQLite's does, and otherwise is
    /// SQLite's.
    private func program(_ statements: String) throws -> String {
      let path = directory.file("recovering")
      let script = """
        #!/bin/sh
        if [ "$2" = .recover ]; then
          case $1 in *scratch) ;; *) exit 9 ;; esac
          sqlite3 '\(directory.file("intact.db"))' "\(statements)"
        else exec sqlite3 "$@"; fi
        """
      try Data(script.utf8).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      return path
    }

    private static let hasProgram = FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")

    @Test(.enabled(if: hasProgram, "The program `sqlite3` is not installed."))
    func readsWhatTheProgramRecovers() async throws {
      let (_, edits) = try await refused()
      let (kept, report) = try await salvage(by: try program(".dump"))
      #expect(kept == edits && edits.count >= 4)
      #expect(report.conflicts > 0 && report.values > 0 && report.records > 50)
      #expect(report.losses.contains { $0.detail.contains("as the program") } && report.lostLocalState)
    }

    /// The list of the tables is lost, so rows have only their numbers of columns.
    @Test(.enabled(if: hasProgram, "The program `sqlite3` is not installed."))
    func readsRowsWhoseTableIsLost() async throws {
      let (_, edits) = try await refused()
      var statements = "SELECT 'CREATE TABLE lost_and_found (rootpgno, pgno, nfield, id, "
      statements += (0..<40).map { "c\($0)" }.joined(separator: ", ") + ");';"
      for (table, count, number) in [("outbox", 32, "entry"), ("conflicts", 22, "number"), ("state", 2, "")] {
        let connection = try Connection(
          uri: StoreOpening.uri(directory.file("intact.db")), flags: 1, busyTimeout: .seconds(1))
        var columns: [String] = []
        try connection.forEachRow("SELECT name FROM pragma_table_info('\(table)')") {
          columns.append($0.text(0))
        }
        #expect(columns.count == count)
        let values = columns.map { $0 == number ? "'NULL'" : "quote(\($0))" }.joined(separator: " || ',' || ")
        let names = (0..<count).map { "c\($0)" }.joined(separator: ", ")
        statements += """
          SELECT 'INSERT INTO lost_and_found (nfield, id, \(names)) VALUES (\(count),' || rowid || ',' || \(values) || ');' \
          FROM \(table);
          """
      }
      let (kept, report) = try await salvage(by: try program(statements))
      #expect(kept.map(\.id) == edits.map(\.id) && kept.map(\.edit) == edits.map(\.edit))
      #expect(report.conflicts > 0 && report.values > 0)
    }

    @Test func saysSoIfThereIsNoProgram() async throws {
      _ = try await refused()
      let error = await #expect(throws: SyncError.self) { try await salvage(by: "no-such-program") }
      #expect(error?.code == .storeUnreadable && error?.message.contains("is not installed") == true)
    }

    @Test func saysSoIfTheProgramRecoversNothing() async throws {
      _ = try await refused()
      let error = await #expect(throws: SyncError.self) { try await salvage(by: "true") }
      #expect(error?.code == .storeUnreadable && error?.message.contains("recovers nothing") == true)
    }
  }
#endif
