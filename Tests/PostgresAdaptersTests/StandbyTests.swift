#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite(
    "Changes on a standby", .enabled(if: ThrowawayCluster.isPossible), .timeLimit(.minutes(10)))
  struct StandbyTests {
    private func withClusters(
      _ body: (_ primary: ThrowawayCluster, _ standby: ThrowawayCluster) async throws -> Void
    ) async throws {
      let primary = try ThrowawayCluster()
      defer { primary.stop() }
      let store = try await PostgresStore.open(try PostgresAddress(primary.address))
      try await store.register(try Games.schema())
      await store.close()
      let standby = try ThrowawayCluster(following: primary)
      defer { standby.stop() }
      try await body(primary, standby)
    }

    @Test func areHeardThereAndAfterItHasTakenOver() async throws {
      try await withClusters { primary, standby in
        let writer = try await PostgresStore.open(try PostgresAddress(primary.address))
        try await writer.register(try Games.schema())
        let reader = try await PostgresStore.open(
          try PostgresAddress(standby.address), configuration: .init(isReadOnly: true))
        try await reader.register(try Games.schema())
        var changes = reader.changes().makeAsyncIterator()
        #expect(await changes.next()?.scope == .records([]))
        try await writer.put(Games.record("a"))
        #expect(await changes.next()?.scope == .records([try Games.record("a").id]))
        await writer.close()

        try standby.sql("SELECT pg_promote()")
        let next = try await PostgresStore.open(try PostgresAddress(standby.address))
        try await next.register(try Games.schema())
        try await next.put(Games.record("b"))
        #expect(await changes.next()?.scope == .records([try Games.record("b").id]))
        await next.close()
        await reader.close()
      }
    }

    @Test func areEverythingIfTheNewPrimaryLacksACommit() async throws {
      try await withClusters { primary, standby in
        // The checkpoint after the promotion takes long, and the control file shows the former
        // history.
        try primary.sql("CREATE TABLE filler AS SELECT generate_series(1, 300000)")
        while try standby.sql("SELECT to_regclass('filler') IS NULL") == "t" {
          try await Task.sleep(for: .milliseconds(20))
        }
        try standby.sql("ALTER SYSTEM SET primary_conninfo = ''; SELECT pg_reload_conf()")
        while try standby.sql("SELECT count(*) FROM pg_stat_wal_receiver") != "0" {
          try await Task.sleep(for: .milliseconds(20))
        }
        let proxy = try CommitProxy(to: primary.address)
        defer { proxy.stop() }
        let both = proxy.address.replacing(
          "/stores", with: ",127.0.0.1:\(Database.port(in: standby.address))/stores")
        let follower = try await PostgresStore.open(try PostgresAddress(both))
        try await follower.register(try Games.schema())
        var changes = follower.changes().makeAsyncIterator()
        let start = try #require(await changes.next())
        // Each server has a commit of this number, of which the other one knows nothing.
        try await follower.put(Games.record("lost"))
        let former = try #require(await changes.next())
        #expect(former.position.number == start.position.number + 1)
        try standby.sql("SELECT pg_promote()")
        let other = try await PostgresStore.open(try PostgresAddress(standby.address))
        try await other.register(try Games.schema())
        try await other.put(Games.record("new"))
        proxy.stop()
        let next = try #require(await changes.next())
        #expect(next.scope == .everything)
        #expect(next.position.number == former.position.number)
        // Also for those who ask by themselves, as observed queries do.
        let seen = try await follower.read { (snapshot) throws(SyncError) in
          try snapshot.changes(after: former.position)
        }
        #expect(seen == next)
        await other.close()
        await follower.close()
      }
    }
  }
#endif
