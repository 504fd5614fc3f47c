#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  /// What a commit leaves behind.
  enum Commit: CaseIterable {
    case record
    case keptValue
    case lease

    /// Commits, and returns how to find out whether it is there.
    func make(in store: PostgresStore) async throws -> @Sendable (PostgresStore) async throws -> Bool {
      switch self {
      case .record:
        let record = try Games.record("a")
        try await store.put(record)
        return { store in
          try await store.read { (snapshot) throws(SyncError) in
            try snapshot.records(withIDs: [record.id])[0] != nil
          }
        }
      case .keptValue:
        // The second one is all that its transaction writes, of a store that is known.
        for value in [1, 2] as [UInt8] {
          try await store.write(.app) { (transaction) throws(SyncError) in
            var changes = StoreChanges()
            changes.values = [StoreChanges.KeptValue("app.a", [value])]
            try transaction.apply(changes)
          }
        }
        return { store in
          try await store.read { (snapshot) throws(SyncError) in try snapshot.value(forKey: "app.a") == [2] }
        }
      case .lease:
        let lease = try await store.acquireLease(for: .seconds(60))
        return { store in try await store.acquireLease(for: .seconds(60)).fence == lease.fence + 1 }
      }
    }
  }

  @Suite("Commits and the disk", .enabled(if: ThrowawayCluster.isPossible), .timeLimit(.minutes(10)))
  struct DurabilityTests {
    /// A commit without the wait would stand, and be told as if it had failed.
    @Test func asksAtOpeningForTheRightToWaitForTheDisk() async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      let function = "FUNCTION pg_catalog.pg_logical_emit_message(boolean, text, text)"
      _ = try cluster.sql(
        "CREATE ROLE meek LOGIN; GRANT CREATE ON DATABASE stores TO meek; REVOKE EXECUTE ON \(function) FROM PUBLIC"
      )
      let address = try PostgresAddress(
        cluster.address.replacing("postgres://postgres@", with: "postgres://meek@") + "?schema=s")
      let error = await #expect(throws: SyncError.self) { try await PostgresStore.open(address) }
      #expect(error?.code == .permissionDenied && error?.message.contains("pg_logical_emit_message") == true)
      _ = try cluster.sql("GRANT EXECUTE ON \(function) TO meek")
      let store = try await PostgresStore.open(address)
      try await store.register(try Games.schema())
      try await store.put(try Games.record("a"))
      await store.close()
    }

    @Test(arguments: Commit.allCases)
    func outliveTheServer(_ commit: Commit) async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      let store = try await PostgresStore.open(try PostgresAddress(cluster.address))
      try await store.register(try Games.schema())
      // Nothing else writes to the disk what was committed.
      let pid = try cluster.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
      #expect(kill(try #require(pid_t(pid)), SIGSTOP) == 0)
      let isThere = try await commit.make(in: store)
      try cluster.restart()
      await store.close()
      let next = try await PostgresStore.open(try PostgresAddress(cluster.address))
      try await next.register(try Games.schema())
      #expect(try await isThere(next))
      await next.close()
    }

    /// What another connection has seen may be gone; its place is then another commit's.
    @Test func anotherMarkFollowsALostConnection() async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      let configuration = PostgresStore.Configuration(readerCount: 1)
      let store = try await PostgresStore.open(
        try PostgresAddress(cluster.address), configuration: configuration)
      try await store.register(try Games.schema())
      let before = try await store.commitMark()
      #expect(try await store.commitMark() == before)
      try cluster.cutConnections()
      let after = try await store.commitMark()
      #expect(after.own == before.own && after.others != before.others)
      #expect(try await store.commitMark() == after)
      await store.close()
    }
  }
#endif
