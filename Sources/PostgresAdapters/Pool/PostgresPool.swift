#if Postgres
  import CanonicalSyncDatabases
  public import SyncModels
  import Synchronization

  /// A fixed number of connections for any number of stores in one PostgreSQL database.
  ///
  /// A server with a schema for each of a thousand tenants has one pool:
  ///
  /// ```swift
  /// let pool = try PostgresPool(PostgresAddress("postgres://app@db.example.com/league"))
  /// let store = try pool.store(inSchema: "tenant_17")
  /// ```
  ///
  /// A transaction gets a free connection, or waits for one in the order of arrival, without a
  /// thread. A store that is not in use has none. What a store keeps in memory is dropped when that of
  /// others is used more recently.
  ///
  /// Nothing is kept in the sessions at the server between two transactions, so the pool also works
  /// behind a pooler that lends sessions for a transaction, such as PgBouncer with `pool_mode =
  /// transaction`. For that, each transaction sets its session up, and the server plans each statement
  /// anew. A store with connections of its own is faster; see ``PostgresStore/open(_:configuration:)``.
  public final class PostgresPool: Sendable {
    /// The size of a pool, and the options of its stores.
    public struct Configuration: Sendable {
      /// The number of connections for transactions, which are opened as they are needed.
      ///
      /// One more listens while something observes a store, or follows ``PostgresStore/changes()``.
      public var connectionCount: Int
      /// The number of stores that keep their declarations and kept values in memory.
      ///
      /// Another store reads them again, in two round trips for each transaction.
      public var cachedStores: Int
      /// The options of each store.
      ///
      /// Its ``PostgresStore/Configuration/readerCount`` is the largest number of reads of one store
      /// at a time, so that one store does not take all connections.
      public var store: PostgresStore.Configuration

      /// Creates the options of a pool.
      public init(
        connectionCount: Int = 20, cachedStores: Int = 200,
        store: PostgresStore.Configuration = .init()
      ) {
        self.connectionCount = connectionCount
        self.cachedStores = cachedStores
        self.store = store
      }
    }

    /// The use of a pool at one instant.
    public struct Occupancy: Hashable, Sendable {
      /// The number of connections that transactions have.
      public var busy: Int
      /// The number of stores that something holds.
      public var stores: Int
    }

    private struct Known {
      weak var store: PostgresStore?
    }

    private struct State {
      var stores: [String: Known] = [:]
      /// The number of stores at which those that nothing holds are forgotten.
      var limit = 64
      var isClosed = false
    }

    private let address: PostgresAddress
    private let core: PoolCore
    private let state = Mutex(State())

    /// Creates a pool, which connects to nothing yet.
    ///
    /// - Parameters:
    ///   - address: The database. Its schema is not used.
    ///   - configuration: The size, and the options of each store.
    /// - Throws: `invalidConfiguration` for fewer than one connection, or a negative number of stores.
    public init(_ address: PostgresAddress, configuration: Configuration = .init()) throws(SyncError) {
      guard configuration.connectionCount > 0, configuration.cachedStores >= 0 else {
        throw SyncError(
          .invalidConfiguration, during: "creating a pool of connections",
          """
          The pool has \(Counted(configuration.connectionCount, "connection")) and \
          \(Counted(configuration.cachedStores, "cached store")); it needs a connection, and no negative number.
          """)
      }
      self.address = address
      core = PoolCore(address, configuration)
    }

    /// The store in a schema, which takes no connection until it is used.
    ///
    /// The first use creates the schema and its tables if they are missing, and throws what
    /// ``PostgresStore/open(_:configuration:)`` would. As long as something holds the store, a later
    /// call returns the same one. Closing it does not close the pool.
    ///
    /// Two things differ from a store with connections of its own. The lease of a process that died is
    /// available once it has expired. And ``PostgresStore/register(_:)`` builds the indexes of a large
    /// table in one transaction, while which others only read.
    ///
    /// - Throws: `invalidConfiguration` for a schema's name that is empty, reserved or longer than 63
    ///   bytes; `storeFailure` after ``close()``.
    public func store(inSchema schema: String) throws(SyncError) -> PostgresStore {
      let address = try PostgresAddress(parameters: address.parameters, schema: schema)
      let store = state.withLock { state -> PostgresStore? in
        if state.isClosed { return nil }
        if let store = state.stores[schema]?.store, !store.isClosed { return store }
        let store = PostgresStore(address, of: core)
        state.stores[schema] = Known(store: store)
        if state.stores.count >= state.limit {
          state.stores = state.stores.filter { $0.value.store != nil }
          state.limit = max(64, 2 * state.stores.count)
        }
        return store
      }
      guard let store else {
        throw SyncError(.storeFailure, during: "taking a store", "The pool of connections has been closed.")
      }
      return store
    }

    /// Refuses further transactions, waits for those that have begun, and closes the connections.
    public func close() async {
      let stores = state.withLock { state in
        defer { (state.isClosed, state.stores) = (true, [:]) }
        return state.stores.values.compactMap(\.store)
      }
      for store in stores { await store.close() }
      core.listener.close()
      for connection in core.connections.items { await connection.close() }
    }

    /// The present use of the pool.
    public var occupancy: Occupancy {
      Occupancy(
        busy: core.connections.items.count - core.connections.idleCount,
        stores: state.withLock { state in state.stores.count { $0.value.store != nil } })
    }
  }
#endif
