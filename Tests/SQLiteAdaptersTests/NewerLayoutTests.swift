#if SQLite
  import CanonicalSyncCSQLite
  import Foundation
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  /// A process with a newer version migrates a file that another one has open.
  @Suite("A layout that changes while a store is open", .timeLimit(.minutes(10)))
  struct NewerLayoutTests {
    private static let games = Entity("games", indexes: ["v"])

    /// All steps, and some invented ones.
    private static func steps(with added: Int = 0) -> [Migration] {
      let others = [
        Migration("future", ["CREATE TABLE future (a)"]), Migration("nothing", []),
        Migration("column", ["ALTER TABLE rows_games ADD COLUMN more"]),
      ]
      return Migration.all + others.prefix(added)
    }

    private static func value(of store: SQLiteStore) async throws -> [UInt8]? {
      try await store.read { snapshot throws(SyncError) in try snapshot.value(forKey: "key") }
    }

    private static func setValue(
      _ value: UInt8, of store: SQLiteStore, _ authority: WriteAuthority = .app
    ) async throws {
      try await store.write(authority) { transaction throws(SyncError) in
        try transaction.setValue([value], forKey: "key")
      }
    }

    /// Opens two stores of one version, of which one only reads, and uses them.
    private func withStores(
      of migrations: [Migration],
      _ body: (_ store: SQLiteStore, _ reader: SQLiteStore, TemporaryDirectory) async throws -> Void
    ) async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      let older = try await SQLiteStore.open(path: path, migrations: migrations)
      try await older.register(try SyncSchema(Self.games))
      let reader = try await SQLiteStore.open(
        path: path, configuration: .init(isReadOnly: true), migrations: migrations)
      try await Self.setValue(1, of: older)
      for store in [older, reader] { #expect(try await Self.value(of: store) == [1]) }
      try await body(older, reader, directory)
      await reader.close()
      await older.close()
    }

    @Test(arguments: [(0, 1), (0, 2), (1, 3)])
    func isRefusedByOlderStores(_ known: Int, _ added: Int) async throws {
      let (old, new) = (Self.steps(with: known), Self.steps(with: added))
      try await withStores(of: old) { older, reader, directory in
        let lost = try await older.acquireLease(for: .seconds(600))
        try await older.release(lost)
        let lease = try await older.acquireLease(for: .seconds(600))
        let newer = try await SQLiteStore.open(path: older.path, migrations: new)
        try await newer.register(try SyncSchema(Self.games))
        try await Self.setValue(2, of: newer)
        let mark = try await newer.commitMark()

        let calls: [(String, () async throws -> Void)] = [
          ("read", { _ = try await Self.value(of: older) }),
          ("read-only", { _ = try await Self.value(of: reader) }),
          ("write", { try await Self.setValue(3, of: older) }),
          ("write under a lease", { try await Self.setValue(3, of: older, .lease(lease)) }),
          ("write under a lost lease", { try await Self.setValue(3, of: older, .lease(lost)) }),
          ("acquireLease", { _ = try await older.acquireLease(for: .seconds(1)) }),
          ("renew", { _ = try await older.renew(lease, for: .seconds(1)) }),
          ("register", { try await older.register(try SyncSchema(Self.games, Entity("clubs"))) }),
          ("verify", { _ = try await older.formatFindings(limit: 9) }),
          ("retire", { try await older.retire(movedTo: "elsewhere") }),
          ("placeMovedTo", { _ = try await older.placeMovedTo() }),
          ("adopt", { try await older.adopt(identity: "other") }),
        ]
        for (name, call) in calls + calls {
          let error = await #expect(throws: SyncError.self, "\(name)") { try await call() }
          #expect(error?.code == .storeNewer, "\(name)")
          #expect(error?.message.contains("layout \(new.count), ") == true, "\(name)")
          #expect(error?.message.contains("knows \(old.count)") == true, "\(name)")
          #expect(error?.message.contains("update the app") == true, "\(name)")
        }
        #expect(try await newer.commitMark() == mark, "Something was written.")

        // The file is still copied as it is, and the lease is given back.
        _ = try await older.commitMark()
        try await older.copy(to: directory.file("copy.db"))
        try await older.release(lease)
        _ = try await newer.acquireLease(for: .seconds(1))
        let copy = try await SQLiteStore.open(path: directory.file("copy.db"), migrations: new)
        #expect(try await Self.value(of: copy) == [2])
        #expect(try await copy.number("PRAGMA user_version") == Int64(new.count))
        await copy.close()
        await newer.close()
      }
    }

    /// Damage must not hide the change.
    @Test(arguments: ["DELETE FROM meta", "UPDATE meta SET value = 'x'", "UPDATE meta SET value = NULL"])
    func isNoticedWithADamagedCatalogNumber(_ damage: String) async throws {
      try await withStores(of: Self.steps()) { older, reader, _ in
        try await older.execute("\(damage) WHERE key = 'catalog'")
        try await Self.setValue(2, of: older)
        for store in [older, reader] { #expect(try await Self.value(of: store) == [2]) }
        let newer = try await SQLiteStore.open(path: older.path, migrations: Self.steps(with: 1))
        for store in [older, reader] {
          let error = await #expect(throws: SyncError.self) { _ = try await Self.value(of: store) }
          #expect(error?.code == .storeNewer)
        }
        let error = await #expect(throws: SyncError.self) { try await Self.setValue(3, of: older) }
        #expect(error?.code == .storeNewer)
        await newer.close()
      }
    }

    @Test func isNoConcernOfStoresThatKnowIt() async throws {
      try await withStores(of: Migration.all) { store, reader, _ in
        let catalog = "SELECT value FROM meta WHERE key = 'catalog'"
        let before = try await store.number(catalog)
        let other = try await SQLiteStore.open(path: store.path)
        try await Self.setValue(2, of: other)
        for store in [store, reader, other] { #expect(try await Self.value(of: store) == [2]) }
        try await Self.setValue(3, of: store)
        try await store.release(try await store.acquireLease(for: .seconds(1)))
        #expect(try await store.number(catalog) == before, "Nothing has to be read again.")
        await other.close()
      }
    }

    /// A registration is four transactions here, and each of them notices the change.
    @Test(arguments: 0...4)
    func endsARegistration(after commits: Int) async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      let store = try await SQLiteStore.open(path: path)
      try await store.register(try SyncSchema(Entity("games")))
      let record = try copy(Entity("games"), "g", #"{"v":1}"#)
      try await store.write(.app) { transaction throws(SyncError) in try transaction.put([record]) }
      // As if withheld changes had to be read again.
      try await store.execute("INSERT INTO meta VALUES ('references/games', 0)")
      await store.close()

      let connection = try Connection(
        uri: "file:" + path, flags: SQLITE_OPEN_READWRITE, busyTimeout: .seconds(1))
      let upgrade = try Upgrade(of: path, to: Self.steps(with: 1), after: commits)
      upgrade.follow(connection)
      defer { sqlite3_wal_hook(connection.handle, nil, nil) }
      let registration = Registration(try SyncSchema(Self.games), on: connection)
      if commits == 4 {
        try registration.run()
      } else {
        #expect { try registration.run() } throws: { ($0 as? SyncError)?.code == .storeNewer }
        #expect(try upgrade.other.dataVersion() == upgrade.version, "Something was written.")
      }
      #expect(upgrade.version != nil)
    }
  }

  /// Changes a file's layout after some commits of a connection, by another connection.
  private final class Upgrade {
    let other: Connection
    /// The data version after the change.
    private(set) var version: Int64?
    private let migrations: [Migration]
    private var rest: Int

    init(of path: String, to migrations: [Migration], after commits: Int) throws {
      self.migrations = migrations
      other = try Connection(uri: "file:" + path, flags: SQLITE_OPEN_READWRITE, busyTimeout: .seconds(1))
      rest = commits
      step()
    }

    /// Counts the commits of a connection, while both objects are in use.
    func follow(_ connection: Connection) {
      sqlite3_wal_hook(
        connection.handle,
        { context, _, _, _ in
          if let context { Unmanaged<Upgrade>.fromOpaque(context).takeUnretainedValue().step() }
          return SQLITE_OK
        }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func step() {
      defer { rest -= 1 }
      guard rest == 0 else { return }
      do {
        try other.migrate(by: migrations)
        version = try other.dataVersion()
      } catch {
        Issue.record(error)
      }
    }
  }
#endif
