#if Postgres
  import CanonicalSyncDatabases
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// A store in a schema of a PostgreSQL database, for many servers at once.
  ///
  /// ```swift
  /// let address = try PostgresAddress("postgres://app@db.example.com/league")
  /// let store = try await PostgresStore.open(address)
  /// ```
  ///
  /// One server at a time syncs, by a lease; all read and edit. Writes queue on a lock of the
  /// database, so positions follow the order of commits. The tables can be read with any client
  /// while the store is open; `Docs/StoreFormat.md` describes them.
  ///
  /// A transaction runs again, whole, after a deadlock or a lost connection. If the connection is
  /// lost while a transaction is being committed, the store finds out whether it was.
  public final class PostgresStore: SharedStore {
    let address: PostgresAddress
    let configuration: Configuration
    let writer: Seats
    let readers: Seats
    private let followed: FollowedStore
    private let declarations: DeclarationKeeper
    private let positions: PositionCount
    private let losses: LossCount
    private let migrations: [Migration]
    private let hasClosed = Atomic(false)

    /// The options for opening a store.
    public struct Configuration: Sendable {
      /// Whether the store is only read, also on a standby. A missing store is then an error.
      public var isReadOnly: Bool
      /// The password; `nil` takes it from `PGPASSWORD`, `PGPASSFILE` or the service file.
      public var password: String?
      /// The number of connections for reads, from 1; one more writes.
      public var readerCount: Int
      /// The most time that connecting may take; 10 seconds by default.
      ///
      /// The hosts of a list have equal shares of it. With zero, nothing connects.
      public var connectTimeout: Duration
      /// The time for which a transaction tries to connect again after the connection was lost.
      ///
      /// 15 seconds by default. With zero, the transaction fails at once.
      public var reconnectTimeout: Duration
      /// The time that a write waits for others before it fails with `storeBusy`.
      ///
      /// 20 seconds by default, and in whole milliseconds. With zero, only ``statementTimeout``
      /// limits the wait.
      public var busyTimeout: Duration
      /// The time after which the server ends a statement, which then fails with `storeBusy`.
      ///
      /// 60 seconds by default, and in whole milliseconds. With zero, there is no limit. It does
      /// not count for the indexes that ``PostgresStore/register(_:)`` creates.
      public var statementTimeout: Duration
      /// The time after which the server ends a transaction that does nothing.
      ///
      /// 15 seconds by default, and in whole milliseconds. With zero, there is no limit. A lease
      /// replaces it with its own duration.
      public var idleTransactionTimeout: Duration
      /// Runs the calls into libpq.
      public var executor = PostgresExecutor.dispatch
      /// A clock for leases in tests; the server's own otherwise.
      package var leaseClock: (@Sendable () -> Timestamp)?
      /// The number of rows from which indexes are built beside the writes of others.
      package var largeTable = 20_000

      /// Creates the options for opening a store.
      public init(
        isReadOnly: Bool = false, password: String? = nil, readerCount: Int = 3,
        connectTimeout: Duration = .seconds(10), reconnectTimeout: Duration = .seconds(15),
        busyTimeout: Duration = .seconds(20), statementTimeout: Duration = .seconds(60),
        idleTransactionTimeout: Duration = .seconds(15)
      ) {
        self.isReadOnly = isReadOnly
        self.password = password
        self.readerCount = readerCount
        self.connectTimeout = connectTimeout
        self.reconnectTimeout = reconnectTimeout
        self.busyTimeout = busyTimeout
        self.statementTimeout = statementTimeout
        self.idleTransactionTimeout = idleTransactionTimeout
      }
    }

    private init(
      _ address: PostgresAddress, _ configuration: Configuration, _ migrations: [Migration],
      writer: Seats, readers: Seats, listener: CommitListener, losses: LossCount,
      opening: StoreOpening? = nil
    ) {
      let (declarations, positions) = (DeclarationKeeper(), PositionCount())
      (self.address, self.configuration, self.migrations) = (address, configuration, migrations)
      (self.writer, self.readers, self.losses) = (writer, readers, losses)
      (self.declarations, self.positions) = (declarations, positions)
      let listening = ConnectionSettings(
        configuration, at: address, for: .listening, isLent: opening != nil)
      followed = FollowedStore(listening, listener, opening) {
        TransactionContext(declarations: declarations.value, layout: migrations.count, positions: positions)
      }
    }

    /// Creates a store with connections of its own.
    private convenience init(
      _ address: PostgresAddress, _ configuration: Configuration, _ migrations: [Migration]
    ) {
      let losses = LossCount()
      func memory(for purpose: ConnectionSettings.Purpose) -> StoreMemory {
        StoreMemory(ConnectionSettings(configuration, at: address, for: purpose), losses)
      }
      func seat(for purpose: ConnectionSettings.Purpose, label: String) -> Seat {
        Seat(memory(for: purpose), label: label, configuration.executor)
      }
      self.init(
        address, configuration, migrations,
        writer: Seats([seat(for: configuration.isReadOnly ? .reading : .writing, label: "writer")]),
        readers: Seats(
          (0..<max(1, configuration.readerCount)).map { seat(for: .reading, label: "reader.\($0)") }),
        listener: CommitListener(memory(for: .listening), patience: configuration.reconnectTimeout),
        losses: losses)
    }

    /// Creates a store of a pool.
    convenience init(_ address: PostgresAddress, of pool: PoolCore) {
      let (configuration, migrations) = (pool.configuration.store, Migration.all)
      let opening = StoreOpening(migrations, isReadOnly: configuration.isReadOnly, of: pool)
      func seat(for purpose: ConnectionSettings.Purpose) -> Seat {
        let settings = ConnectionSettings(configuration, at: address, for: purpose, isLent: true)
        return Seat(LentSeat(StoreMemory(settings, pool.losses), of: pool, opening))
      }
      let reading = seat(for: .reading)
      self.init(
        address, configuration, migrations,
        writer: Seats([seat(for: configuration.isReadOnly ? .reading : .writing)]),
        readers: Seats(Array(repeating: reading, count: max(1, configuration.readerCount))),
        listener: pool.listener, losses: pool.losses, opening: opening)
    }

    /// Opens a store, and creates its schema and tables if they are missing.
    ///
    /// - Throws: `authentication`, `permissionDenied` or `untrustedServer` if the server refuses
    ///   the connection or cannot be verified; `invalidConfiguration` if there is no such database,
    ///   if a pooler does not keep sessions, or for a server without PostgreSQL's locks and
    ///   notifications; `storeFailure` if it cannot be reached, or if a read-only store is missing;
    ///   `storeUnreadable` for a schema of another application; `storeNewer` for a store of a newer
    ///   version of the library; `storeReadOnly` for a standby, or with `default_transaction_read_only`. The
    ///   database is unchanged then.
    public static func open(
      _ address: PostgresAddress, configuration: Configuration = .init()
    ) async throws(SyncError) -> PostgresStore {
      try await open(address, configuration: configuration, migrations: Migration.all)
    }

    package static func open(
      _ address: PostgresAddress, configuration: Configuration, migrations: [Migration]
    ) async throws(SyncError) -> PostgresStore {
      let store = PostgresStore(address, configuration, migrations)
      do throws(SyncError) {
        let isPooled = try await store.writer.run { connection throws(SyncError) in
          try connection.openSession()
        }
        // The session that a pooler gives to a second connection shows whether it keeps them apart.
        if isPooled {
          _ = try await store.readers.run { connection throws(SyncError) in try connection.openSession() }
        }
        try await store.writer.run { connection throws(SyncError) in
          _ = try connection.openSession()
          try connection.demandServer(isReadOnly: configuration.isReadOnly)
          try connection.prepareStore(migrations, isReadOnly: configuration.isReadOnly)
        }
      } catch {
        await store.close()
        throw error
      }
      return store
    }

    /// Closes the connections after the calls that have begun; later calls fail.
    ///
    /// Leases that are still held are free when it returns, unless the server is silent for a second:
    /// then once the server has noticed the end. For a store of a ``PostgresPool``, calls that have
    /// begun go on, the connections stay open, and leases end when they expire.
    public func close() async {
      hasClosed.store(true, ordering: .relaxed)
      followed.close()
      await readers.close()
      await writer.close()
    }

    var isClosed: Bool { hasClosed.load(ordering: .relaxed) }

    /// The records that commits change from now on, by this server or any other.
    ///
    /// One more connection listens while there is an iterator or an observed query, for all stores of
    /// a ``PostgresPool`` together, but no thread waits with it.
    /// ``PostgresChanges/failure`` tells why a sequence has ended.
    public func changes() -> PostgresChanges { PostgresChanges(store: followed) }

    var context: TransactionContext {
      TransactionContext(declarations: declarations.value, layout: migrations.count, positions: positions)
    }

    /// A mark of the commits so far, by one statement.
    public func commitMark() async throws(SyncError) -> CommitMark {
      let (context, positions, losses) = (context, positions, losses)
      return try await readers.run(endsWithTask: true) { connection throws(SyncError) -> CommitMark in
        let all = try connection.read(context) { (snapshot) throws(SyncError) in snapshot.position }
        // An own commit is counted before it is visible, and so never as one of the others'.
        let own = positions.value
        return CommitMark(own: own, others: all - own + losses.value)
      }
    }

    /// Waits until the store is told of a commit after a mark.
    ///
    /// The connection that listens for ``changes()`` tells of it. It stays for five seconds after the
    /// last wait, so waits in close succession share it. On a standby, which sends no notifications,
    /// and behind a pooler that lends sessions, it asks twice a second.
    public func waitForCommit(after mark: CommitMark) async -> Bool {
      // A simulator repeats what it schedules, but not what a server tells.
      if configuration.executor.isInline { return false }
      let losses = losses
      return await followed.wait { position in position + losses.value > mark.own + mark.others }
    }

    /// Prepares the store for a schema.
    ///
    /// The columns of new fields are filled in portions, between which others can write. They also
    /// can while the indexes of a table with more than 20,000 rows are built, which takes some seconds
    /// for a million rows, first waits for transactions of others that have begun, and happens on one
    /// server at a time. If it fails in between, the store can be used as before, and the next
    /// registration continues.
    ///
    /// - Throws: `storeReadOnly` if something is missing in a store that was opened read-only, or
    ///   that has moved; `permissionDenied` if the role may not change tables; `storeFailure` if
    ///   the server cannot be reached, or if a view of others depends on one that loses a column;
    ///   `storeBusy`, `storeFull` or `storeNewer` as ``write(_:_:)``.
    public func register(_ schema: SyncSchema) async throws(SyncError) {
      declarations.declare(schema)
      let context = context
      try await writer.run { connection throws(SyncError) in
        let isDone = try connection.read(context) { (snapshot) throws(SyncError) -> Bool in
          snapshot.catalog.isPrepared(for: schema)
        }
        if isDone { return }
        if configuration.isReadOnly {
          throw SyncError(
            .storeReadOnly, during: "registering the types",
            "The store has other declarations, and was opened read-only.")
        }
        try Registration(schema, on: connection, context, largeTable: configuration.largeTable).run()
      }
    }

    /// Runs reads over one snapshot of the store, concurrently with other reads and writes.
    ///
    /// The body may run several times, as after a lost connection, so it must have no other
    /// effects. Only the last run counts. A task's cancellation reaches the server: a statement
    /// that takes longer ends. A read that waits for a free connection returns at once, and one
    /// whose connection is being opened soon after.
    /// Short reads are completed.
    ///
    /// - Throws: What the body throws; `cancelled`; `storeBusy` if a statement takes longer than
    ///   ``Configuration/statementTimeout``; `storeNewer` or `storeUnreadable` if another program
    ///   has changed the store's layout; `storeFailure` if the server cannot be reached within
    ///   ``Configuration/reconnectTimeout``. A read changes nothing.
    public func read<R: Sendable>(
      _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let context = context
      if configuration.executor.isInline {
        return try await readers.run(endsWithTask: true) { connection throws(SyncError) -> R in
          try connection.read(context) { (snapshot) throws(SyncError) -> R in try body(snapshot) }
        }
      }
      let ticket = ReadTicket()
      // The handler's own operation cannot throw a typed error.
      let outcome: Result<R, SyncError> = await withTaskCancellationHandler {
        do throws(SyncError) {
          return .success(
            try await readers.run(endsWithTask: true) { connection throws(SyncError) -> R in
              try ticket.read(on: connection, context, body)
            })
        } catch {
          return .failure(error)
        }
      } onCancel: {
        ticket.cancelSoon()
      }
      return try outcome.get()
    }

    /// Runs reads and writes as one transaction.
    ///
    /// The body may run several times: after a deadlock or a lost connection, or if another
    /// server's commit came first. So it must have no other effects. Only the last run counts. A
    /// write that has begun is completed even if the task is cancelled.
    ///
    /// - Throws: What the body throws; `leaseLost` if another sync took the lease over, it was
    ///   given back, or the server has lost this sync's last commits; `storeReadOnly` if the store
    ///   was opened read-only or has moved, or if the server is a standby; `storeBusy` if others
    ///   kept the store locked for longer than ``Configuration/busyTimeout``, or a statement took
    ///   longer than ``Configuration/statementTimeout``; `storeFull`, `permissionDenied`,
    ///   `storeNewer` or `storeUnreadable`. Nothing has been written then. `storeFailure` if the
    ///   server cannot be reached within ``Configuration/reconnectTimeout``: if the connection was
    ///   lost during the commit, it is not known whether the writes are there.
    public func write<R: Sendable>(
      _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      if configuration.isReadOnly {
        throw SyncError(.storeReadOnly, during: "writing to the store", "The store was opened read-only.")
      }
      let context = context
      do throws(SyncError) {
        return try await writer.run { connection throws(SyncError) -> R in
          try connection.write(context, authority) { (transaction) throws(SyncError) -> R in
            try body(transaction)
          }
        }
      } catch {
        // It may have been counted as a commit.
        followed.reconsiderWaits()
        throw error
      }
    }
  }

  extension PostgresStore: ReadingInTurn {
    /// The most reads before others may have the connection.
    private static let mostTurns = 64

    package var readsInTurn: Bool { !configuration.executor.isInline }

    package func readInTurn<R: Sendable>(_ next: @escaping @Sendable () -> ReadTurn<R>?) {
      Task {
        var goesOn = true
        while goesOn {
          do throws(SyncError) {
            goesOn = try await readers.run { connection throws(SyncError) in
              for _ in 0..<Self.mostTurns {
                guard let turn = next() else { return false }
                turn.end(
                  Result { () throws(SyncError) -> R in
                    try ReadTicket().read(on: connection, context, turn.read)
                  })
              }
              return true
            }
          } catch {
            // The store is closed.
            goesOn = next().map { $0.end(.failure(error)) } != nil
          }
        }
      }
    }
  }

  // For tests of the connections.
  extension PostgresStore {
    /// The number of statements so far, on all connections.
    package func statementCount() async throws(SyncError) -> Int {
      try await readers.statementCount() + writer.statementCount()
    }
  }
#endif
