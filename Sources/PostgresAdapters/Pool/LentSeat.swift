#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import Synchronization

  /// A place for transactions of a store of a pool, which lends them connections.
  ///
  /// What is known of the store goes with the transaction to the connection, and comes back.
  final class LentSeat: Sendable {
    private let pool: PoolCore
    private let opening: StoreOpening
    /// Without the cache, which the pool keeps; `nil` once the seat is closed.
    private let memory: Mutex<StoreMemory?>
    private let number: Int

    init(_ memory: StoreMemory, of pool: PoolCore, _ opening: StoreOpening) {
      (self.pool, self.opening) = (pool, opening)
      self.memory = Mutex(memory)
      number = pool.caches.newNumber()
    }

    deinit { pool.caches.remove(number) }

    func run<R: Sendable>(
      endsWithTask: Bool, _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let connection = try await pool.connections.take(endsWithTask: endsWithTask)
      defer { pool.connections.giveBack(connection) }
      return try await connection.run { (connection) throws(SyncError) -> R in
        guard var memory = memory.withLock({ $0 }) else { throw SyncError.closedStore }
        memory.cache = pool.caches.take(number)
        connection.enter(memory)
        defer { leave(connection) }
        try opening.complete(on: connection)
        return try body(connection)
      }
    }

    private func leave(_ connection: Connection) {
      pool.caches.put(connection.cache, for: number)
      // The next store finds nothing of this one.
      connection.cache = StoreCache()
      let now = connection.memory
      memory.withLock { if $0 != nil { $0 = now } }
    }

    func close() { memory.withLock { $0 = nil } }
  }

  /// The opening of a store of a pool, at its first use.
  final class StoreOpening: Sendable {
    private let pool: PoolCore
    private let migrations: [Migration]
    private let isReadOnly: Bool
    private let isDone = Atomic(false)

    init(_ migrations: [Migration], isReadOnly: Bool, of pool: PoolCore) {
      (self.migrations, self.isReadOnly, self.pool) = (migrations, isReadOnly, pool)
    }

    /// Prepares the store unless that has been done.
    ///
    /// Several may do so at once: each finds what the others have made.
    func complete(on connection: Connection) throws(SyncError) {
      if isDone.load(ordering: .acquiring) { return }
      // The connection may have been lost since its last use.
      try connection.attempting { (_) throws(SyncError) in
        try pool.checkServer(on: connection, isReadOnly: isReadOnly)
        try connection.prepareStore(migrations, isReadOnly: isReadOnly)
      }
      isDone.store(true, ordering: .releasing)
    }
  }
#endif
