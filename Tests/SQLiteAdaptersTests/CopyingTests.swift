#if SQLite
  import CanonicalSyncTestProcesses
  import Foundation
  import SQLiteAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("A copy of a store")
  struct CopyingTests {
    private let games = Entity("games", indexes: ["date"])

    @Test(arguments: [false, true])
    func isTheSameStoreInAFileOfItsOwn(_ isReadOnly: Bool) async throws {
      try await withStore { store, directory in
        let schema = try SyncSchema(games)
        try await store.register(schema)
        let records = try (1...50).map { try copy(games, "k\($0)", #"{"date":"\#($0)"}"#) }
        try await store.write(.app) { (transaction) throws(SyncError) in try transaction.put(records) }
        let reader = try await SQLiteStore.open(
          path: directory.file("store.db"), configuration: .init(isReadOnly: isReadOnly))
        // A name with a special meaning in a URI.
        try await reader.copy(to: directory.file("a copy?mode=memory%.db"))
        await reader.close()
        #expect(try directory.permissions("a copy?mode=memory%.db") == 0o600)

        let second = try await SQLiteStore.open(path: directory.file("a copy?mode=memory%.db"))
        try await second.register(schema)
        for other in [store, second] {
          let (identity, live) = try await other.read { (snapshot) throws(SyncError) in
            (try snapshot.storeIdentity(), try snapshot.records(Query("games")))
          }
          #expect(
            try await identity == store.read { (snapshot) throws(SyncError) in try snapshot.storeIdentity() })
          #expect(Set(live.map(\.payload)) == Set(records.map(\.payload)))
        }
        // Changes of one store do not affect the other.
        let new = try copy(games, "new")
        try await second.write(.app) { (transaction) throws(SyncError) in try transaction.put([new]) }
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try snapshot.count(Query("games")) } == 50)
        await second.close()
      }
    }

    // Closing any descriptor of a file ends all locks that the process has on it.
    @Test func leavesTheLocksOfAStoreAlone() async throws {
      try await withStore { store, directory in
        let path = directory.file("store.db")
        await #expect(throws: SyncError.self) { try await store.copy(to: path) }
        // The last process that closes a store removes its log.
        let sqlite = try ChildProcess(["sqlite3", path, "SELECT count(*) FROM meta"])
        #expect(sqlite.waitUntilExit().status == 0)
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
      }
    }

    @Test func leavesNoPartOfACopy() async throws {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory)
      let store = try await SQLiteStore.open(
        path: directory.file("store.db"), configuration: .init(readerCount: 1, executor: .inline))
      disk.expect(.init(failure: .full, call: 1))
      let error = await #expect(throws: SyncError.self) {
        try await store.copy(to: directory.file("copy.db"))
      }
      #expect(error?.code == .storeFull)
      #expect(disk.mend() > 0)
      #expect(try !directory.names.contains { $0.hasPrefix("copy.db") })
      try await store.copy(to: directory.file("copy.db"))
      await store.close()
      await (try SQLiteStore.open(path: directory.file("copy.db"))).close()
    }

    @Test func canBeCancelled() async throws {
      try await withStore { store, directory in
        let schema = try SyncSchema(games)
        try await store.register(schema)
        let records = try (1...2000).map { try copy(games, "k\($0)", #"{"date":"\#($0)"}"#) }
        try await store.write(.app) { (transaction) throws(SyncError) in try transaction.put(records) }
        let path = directory.file("copy.db")
        let copying = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          try await store.copy(to: path)
        }
        let error = await #expect(throws: SyncError.self) { try await copying.value }
        #expect(error?.code == .cancelled)
        #expect(try !directory.names.contains { $0.hasPrefix("copy.db") })
      }
    }

    @Test func replacesNothing() async throws {
      try await withStore { store, directory in
        try directory.write(Data("mine".utf8), to: "taken.db")
        for name in ["taken.db", "no-such-directory/copy.db", "", "a\u{0}b"] {
          await #expect(throws: SyncError.self) {
            try await store.copy(to: name.isEmpty ? "" : directory.file(name))
          }
        }
        #expect(try directory.contents("taken.db") == Data("mine".utf8))
      }
    }
  }
#endif
