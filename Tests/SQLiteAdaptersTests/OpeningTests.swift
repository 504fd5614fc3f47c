#if SQLite
  import CanonicalSyncDatabases
  import Foundation
  import SyncCore
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  @Suite("Opening a store", .timeLimit(.minutes(10)))
  struct OpeningTests {
    private func failure(
      opening path: String, _ configuration: SQLiteStore.Configuration = .init(),
      migrations: [Migration] = Migration.all
    ) async -> SyncError? {
      await #expect(throws: SyncError.self) {
        _ = try await SQLiteStore.open(path: path, configuration: configuration, migrations: migrations)
      }
    }

    @Test func createsFilesForTheirOwnerAlone() async throws {
      try await withStore { store, directory in
        _ = try await store.acquireLease(for: .seconds(9))
        for name in ["store.db", "store.db-wal", "store.db-shm", "store.db.lease"] {
          #expect(try directory.permissions(name) == 0o600, "\(name)")
        }
      }
    }

    @Test func closingLeavesNoLogBehind() async throws {
      let directory = try TemporaryDirectory()
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      try await store.register(try SyncSchema(Entity("games")))
      try await store.read { snapshot throws(SyncError) in _ = try snapshot.count(Query("games")) }
      await store.close()
      #expect(try directory.names == ["store.db", "store.db.lease"])
      await #expect(throws: SyncError.self) { try await store.read { _ in } }
    }

    @Test func aStoreWithoutReferencesIsClosed() async throws {
      let directory = try TemporaryDirectory()
      do {
        let store = try await SQLiteStore.open(path: directory.file("store.db"))
        try await store.register(try SyncSchema(Entity("games")))
        try await store.read { snapshot throws(SyncError) in _ = try snapshot.count(Query("games")) }
      }
      #expect(try directory.names == ["store.db", "store.db.lease"])
    }

    @Test(arguments: ["a b?c#d%20&e=f.db", ":memory:", "é e\u{301}.db", "it's \"quoted\".db"])
    func takesPathsAsTheyAre(_ name: String) async throws {
      let directory = try TemporaryDirectory()
      let store = try await SQLiteStore.open(path: directory.file(name))
      await store.close()
      #expect(try directory.names.contains(name))
      #expect(try directory.permissions(name) == 0o600)
    }

    @Test func aLinkToAStoreThatIsStillToBeMadeIsItsOneName() async throws {
      let directory = try TemporaryDirectory()
      for (link, target) in [("first.db", "real.db"), ("second.db", directory.file("first.db"))] {
        try FileManager.default.createSymbolicLink(
          atPath: directory.file(link), withDestinationPath: target)
      }
      let byLink = try await SQLiteStore.open(path: directory.file("second.db"))
      let lease = try await byLink.acquireLease(for: .seconds(60))
      let byName = try await SQLiteStore.open(path: directory.file("real.db"))
      await #expect { try await byName.acquireLease(for: .seconds(60)) } throws: {
        ($0 as? SyncError)?.code == .syncAlreadyInProgress
      }
      try await byLink.release(lease)
      #expect(try directory.names.filter { $0.hasSuffix(".lease") } == ["real.db.lease"])
      await byName.close()
      await byLink.close()
    }

    @Test func filesLeftOverFromBeforeOpenNothingToOthers() async throws {
      let directory = try TemporaryDirectory()
      try directory.write(Data(), to: "store.db.lease")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o666], ofItemAtPath: directory.file("store.db.lease"))
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      try await store.write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue([1], forKey: "key")
      }
      for name in try directory.names { #expect(try directory.permissions(name) == 0o600, "\(name)") }
      await store.close()
    }

    @Test func aFileThatIsRemovedOrReplacedIsNotWrittenToUnseen() async throws {
      for isReplaced in [false, true] {
        let directory = try TemporaryDirectory()
        let store = try await SQLiteStore.open(path: directory.file("store.db"))
        let lease = try await store.acquireLease(for: .seconds(60))
        try FileManager.default.removeItem(atPath: directory.file("store.db"))
        if isReplaced { try directory.write(Data(), to: "store.db") }
        for authority in [WriteAuthority.app, .lease(lease)] {
          let error = await #expect(throws: SyncError.self) {
            try await store.write(authority) { (transaction) throws(SyncError) in
              try transaction.setValue([1], forKey: "key")
            }
          }
          #expect(error?.code == .storeFailure)
          #expect(error?.message.contains("removed or replaced") == true)
        }
        await #expect(throws: SyncError.self) { try await store.acquireLease(for: .seconds(60)) }
        await store.close()
      }
    }

    @Test func aFencingNumberThatNoLeaseCanFollowIsDamage() async throws {
      let directory = try TemporaryDirectory()
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      try await store.writer.run { connection throws(SyncError) in
        try connection.execute("UPDATE lease SET fence = 9223372036854775807")
      }
      await #expect { try await store.acquireLease(for: .seconds(60)) } throws: {
        ($0 as? SyncError)?.code == .storeUnreadable
      }
      await store.close()
    }

    @Test func aMissingDirectoryIsNamed() async throws {
      let directory = try TemporaryDirectory()
      let error = await failure(opening: directory.file("nowhere/store.db"))
      #expect(error?.code == .storeFailure)
      #expect(error?.message.contains("nowhere does not exist") == true)
      #expect(try directory.names == [])
    }

    @Test func anEmptyPathAndADirectoryAreRefused() async throws {
      let directory = try TemporaryDirectory()
      #expect(await failure(opening: "")?.code == .invalidConfiguration)
      #expect(await failure(opening: directory.path)?.code == .storeUnreadable)
    }

    @Test func anEmptyFileBecomesAStore() async throws {
      let directory = try TemporaryDirectory()
      try directory.write(Data(), to: "store.db")
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      try await store.register(try SyncSchema(Entity("games")))
      await store.close()
    }

    @Test(arguments: [Data("hello".utf8), Data(repeating: 7, count: 10_000)])
    func whatIsNoDatabaseIsRefusedUntouched(_ content: Data) async throws {
      let directory = try TemporaryDirectory()
      try directory.write(content, to: "store.db")
      #expect(await failure(opening: directory.file("store.db"))?.code == .storeUnreadable)
      #expect(try directory.contents("store.db") == content)
      #expect(try directory.names == ["store.db"])
    }

    @Test func aDatabaseOfAnotherApplicationIsRefusedUntouched() async throws {
      let directory = try TemporaryDirectory()
      let other = try Connection(
        uri: "file:" + directory.file("store.db"), flags: 6, busyTimeout: .seconds(1))
      try other.execute("CREATE TABLE notes (text)")
      let content = try directory.contents("store.db")
      #expect(await failure(opening: directory.file("store.db"))?.code == .storeUnreadable)
      #expect(try directory.contents("store.db") == content)
      #expect(try directory.names == ["store.db"])
    }

    // MARK: Reading only

    @Test func readOnlyNeedsAFileAndCreatesNone() async throws {
      let directory = try TemporaryDirectory()
      let error = await failure(opening: directory.file("store.db"), .init(isReadOnly: true))
      #expect(error?.code == .storeFailure)
      #expect(try directory.names == [])
    }

    @Test func readOnlyLeavesAFileAsItIs() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      await (try SQLiteStore.open(path: path)).close()
      let content = try directory.contents("store.db")
      let reader = try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
      _ = try await reader.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
      await reader.close()
      #expect(try directory.contents("store.db") == content)
      // A reader of a log needs these two files. A read-only connection cannot know that it was the
      // last.
      let extra = Set(try directory.names).subtracting(["store.db", "store.db.lease"])
      #expect(extra.isSubset(of: ["store.db-wal", "store.db-shm"]))
      for name in extra { #expect(try directory.permissions(name) == 0o600) }
    }

    @Test func readOnlyReadsAndRefusesToWrite() async throws {
      let games = Entity("games", indexes: ["v"])
      try await withStore { store, directory in
        try await store.register(try SyncSchema(games))
        let record = try copy(games, "g", #"{"v":1}"#)
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put([record]) }
        let reader = try await SQLiteStore.open(
          path: directory.file("store.db"), configuration: .init(isReadOnly: true))
        try await reader.register(try SyncSchema(games))
        let found = try await reader.read { snapshot throws(SyncError) in
          try snapshot.records(Query("games", where: .equal("v", 1)))
        }
        #expect(found == [record])
        for write in [
          { try await reader.write(.app) { transaction throws(SyncError) in try transaction.delete([]) } },
          { try await reader.register(try SyncSchema(Entity("clubs"))) },
          { _ = try await reader.acquireLease(for: .seconds(1)) },
        ] as [() async throws -> Void] {
          let error = await #expect(throws: SyncError.self) { try await write() }
          #expect(error?.code == .storeReadOnly)
        }
        await reader.close()
      }
    }

    @Test(.enabled(if: getuid() != 0, "The superuser may write any file."))
    func aFileThatCannotBeWrittenIsReadOnly() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      await (try SQLiteStore.open(path: path)).close()
      try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
      let store = try await SQLiteStore.open(path: path)
      _ = try await store.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
      let error = await #expect(throws: SyncError.self) {
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.setValue([1], forKey: "k")
        }
      }
      #expect(error?.code == .storeReadOnly)
      await store.close()
    }

    // MARK: Layouts

    @Test func aFailingMigrationLeavesTheVersionBeforeIt() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      await (try SQLiteStore.open(path: path)).close()
      let second = Migration("second", ["CREATE TABLE second (a)"])
      let third = Migration("third", ["CREATE TABLE third (a)", "CREATE TABLE third (a)"])
      let error = await failure(opening: path, migrations: Migration.all + [second, third])
      #expect(error?.code == .storeFailure)
      #expect(error?.message.contains("Step \(Migration.all.count + 2), \"third\"") == true)

      let store = try await SQLiteStore.open(path: path, migrations: Migration.all + [second])
      #expect(try await store.number("PRAGMA user_version") == Int64(Migration.all.count + 1))
      #expect(try await store.number("SELECT count(*) FROM sqlite_schema WHERE name = 'second'") == 1)
      #expect(try await store.number("SELECT count(*) FROM sqlite_schema WHERE name = 'third'") == 0)
      await store.close()
    }

    @Test func anOlderStoreIsBroughtUpToDateWithItsRecords() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      let games = Entity("games")
      let record = try copy(games, "g")
      let old = try await SQLiteStore.open(path: path)
      try await old.register(try SyncSchema(games))
      try await old.write(.app) { transaction throws(SyncError) in try transaction.put([record]) }
      await old.close()
      let store = try await SQLiteStore.open(
        path: path, migrations: Migration.all + [Migration("more", ["CREATE TABLE more (a)"])])
      let found = try await store.read { snapshot throws(SyncError) in try snapshot.records(Query("games")) }
      #expect(found == [record])
      #expect(try await store.number("PRAGMA user_version") == Int64(Migration.all.count + 1))
      await store.close()
    }

    @Test func aNewerStoreIsRefusedUntouched() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      let newer = Migration.all + [Migration("future", ["CREATE TABLE future (a)"])]
      await (try SQLiteStore.open(path: path, migrations: newer)).close()
      let content = try directory.contents("store.db")
      for configuration in [SQLiteStore.Configuration(), .init(isReadOnly: true)] {
        #expect(await failure(opening: path, configuration)?.code == .storeNewer)
        #expect(try directory.contents("store.db") == content)
      }
    }

    @Test func storesThatRaceToCreateAFileAllSucceed() async throws {
      for _ in 0..<40 {
        let directory = try TemporaryDirectory()
        let path = directory.file("store.db")
        let identities = try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<4 {
            group.addTask {
              // Each writer succeeds, even on a slow disk.
              let store = try await SQLiteStore.open(
                path: path, configuration: .init(busyTimeout: .seconds(300)))
              try await store.register(try SyncSchema(Entity("games", indexes: ["v"])))
              return try await store.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
            }
          }
          return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(identities.count == 1)
      }
    }

    // MARK: Limits

    @Test func aFullStoreKeepsWhatItHad() async throws {
      let games = Entity("games")
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        let small = try copy(games, "small")
        let large = try copy(games, "large", "{\"x\":\"\(String(repeating: "x", count: 1 << 20))\"}")
        try await store.limitPages(to: 60)
        let error = await #expect(throws: SyncError.self) {
          try await store.write(.app) { transaction throws(SyncError) in
            try transaction.put([small])
            // Even a body that ignores the error commits nothing.
            do { try transaction.put([large]) } catch {}
            do { try transaction.setValue([1], forKey: "after") } catch {}
          }
        }
        #expect(error?.code == .storeFull)
        let (count, value) = try await store.read { snapshot throws(SyncError) in
          (try snapshot.count(Query("games")), try snapshot.value(forKey: "after"))
        }
        #expect(count == 0)
        #expect(value == nil)
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put([small]) }
      }
    }

    @Test(arguments: [0x6969, 0x517B, 0xFF53_4D42, -1])
    func aNetworkFileSystemIsRefusedUnlessOneMachineUsesIt(_ number: Int) async throws {
      try await withStore { _, directory in
        for name in ["store.db", "new.db"] {
          var configuration = SQLiteStore.Configuration()
          configuration.fileSystem = { _ in number }
          let error = await failure(opening: directory.file(name), configuration)
          #expect(error?.code == .invalidConfiguration)
          #expect(error?.message.contains("allowsNetworkFileSystem") == true)
          #expect(FileManager.default.fileExists(atPath: directory.file(name)) == (name == "store.db"))
          configuration.allowsNetworkFileSystem = true
          await (try SQLiteStore.open(path: directory.file(name), configuration: configuration)).close()
        }
      }
    }

    @Test func aBusyStoreIsToldAfterTheTimeout() async throws {
      try await withStore { store, directory in
        let blocker = try Connection(
          uri: "file:" + directory.file("store.db"), flags: 2, busyTimeout: .seconds(1))
        try blocker.execute("BEGIN IMMEDIATE")
        let other = try await SQLiteStore.open(
          path: directory.file("store.db"), configuration: .init(busyTimeout: .milliseconds(20)))
        let error = await #expect(throws: SyncError.self) {
          try await other.write(.app) { transaction throws(SyncError) in
            try transaction.setValue([1], forKey: "k")
          }
        }
        #expect(error?.code == .storeBusy)
        try blocker.execute("ROLLBACK")
        try await other.write(.app) { transaction throws(SyncError) in
          try transaction.setValue([1], forKey: "k")
        }
        await other.close()
      }
    }
  }
#endif
