#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Waits that end", .enabled(if: Database.isThere), .timeLimit(.minutes(5)))
  struct ListenerTests {
    @Test func listenersOfManyStoresStopNoCall() async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      try cluster.sql("ALTER SYSTEM SET max_connections = 700")
      try cluster.restart()
      let address = try PostgresAddress(cluster.address)
      var stores: [PostgresStore] = []
      var listeners: [PostgresChanges.Iterator] = []
      for _ in 0..<300 {
        let store = try await PostgresStore.open(address)
        if stores.isEmpty { try await store.register(try Games.schema()) }
        stores.append(store)
        listeners.append(store.changes().makeAsyncIterator())
      }
      for place in listeners.indices { #expect(await listeners[place].next()?.scope == .records([])) }
      try await stores[0].put(Games.record("a"))
      #expect(try await stores[1].keys() == ["a"])
      for place in listeners.indices {
        #expect(await listeners[place].next()?.scope == .records([try Games.record("a").id]))
      }
      for store in stores { await store.close() }
      #expect(await listeners[0].next() == nil)
    }

    @Test func followingWithoutARightEndsWithTheReason() async throws {
      try await Games.withStore { store, schema in
        let address = Database.address.replacing("postgres://postgres@", with: "postgres://reader@")
        try Database.run(
          "GRANT USAGE ON SCHEMA \(schema) TO reader; GRANT SELECT ON \(schema).store TO reader")
        let guest = try await PostgresStore.open(try PostgresAddress("\(address)?schema=\(schema)"))
        let changes = guest.changes()
        for await _ in changes { Issue.record("It followed.") }
        #expect(changes.failure?.code == .permissionDenied)
        await guest.close()
      }
    }

    @Test func followingAServerThatIsAwayEndsInTime() async throws {
      let cluster = try ThrowawayCluster()
      let store = try await PostgresStore.open(
        try PostgresAddress(cluster.address), configuration: .init(reconnectTimeout: .milliseconds(300)))
      cluster.stop()
      let changes = store.changes()
      for await _ in changes { Issue.record("It followed.") }
      #expect(changes.failure?.code == .storeFailure)
      await store.close()
    }

    @Test func aCancelledReadReturnsWhileAnotherHasTheConnection() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, _ in
        let (entered, left) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        async let reading: Void = store.read { (_) throws(SyncError) in
          entered.continuation.finish()
          left.wait()
        }
        for await _ in entered.stream {}
        let task = Task { try await store.keys() }
        task.cancel()
        let error = await #expect(throws: SyncError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        left.signal()
        try await reading
        #expect(try await store.keys() == [])
      }
    }

    @Test func aCancelledReadEndsWhileItConnects() async throws {
      let cluster = try ThrowawayCluster()
      let store = try await PostgresStore.open(
        try PostgresAddress(cluster.address), configuration: .init(reconnectTimeout: .seconds(3600)))
      cluster.stop()
      let task = Task { try await store.keys() }
      try await Task.sleep(for: .milliseconds(100))
      task.cancel()
      let error = await #expect(throws: SyncError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      await store.close()
    }
  }
#endif
