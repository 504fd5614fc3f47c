#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import Synchronization

  /// What the stores of a pool share.
  final class PoolCore: Sendable {
    let configuration: PostgresPool.Configuration
    let connections: Lender<SerialConnection<Connection>>
    let caches: CacheShelf
    let losses = LossCount()
    let listener: CommitListener
    private let isServerChecked = Atomic(false)

    init(_ address: PostgresAddress, _ configuration: PostgresPool.Configuration) {
      self.configuration = configuration
      let (losses, store) = (losses, configuration.store)
      let memory = StoreMemory(ConnectionSettings(store, at: address, for: .reading, isLent: true), losses)
      connections = Lender(
        (0..<configuration.connectionCount).map { number in
          store.executor.connection(memory, label: "pool.\(number)")
        })
      // A store has one cache for what it reads, and one for what it writes.
      caches = CacheShelf(capacity: 2 * configuration.cachedStores)
      listener = CommitListener(
        StoreMemory(ConnectionSettings(store, at: address, for: .listening, isLent: true), losses),
        patience: store.reconnectTimeout)
    }

    /// Refuses a server or a pooler that cannot serve stores, at the first use of a store.
    func checkServer(on connection: Connection, isReadOnly: Bool) throws(SyncError) {
      if isServerChecked.load(ordering: .relaxed) { return }
      try connection.demandServer(isReadOnly: isReadOnly)
      isServerChecked.store(true, ordering: .relaxed)
    }
  }
#endif
