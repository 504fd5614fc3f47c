#if Postgres
  import CanonicalSyncDatabases
  import SyncModels

  /// A place for one transaction of a store at a time.
  ///
  /// It has a connection of its own, or gets one of a pool for each transaction.
  struct Seat: Sendable {
    private enum Place {
      case own(SerialConnection<Connection>)
      case lent(LentSeat)
    }

    private let place: Place

    /// Creates a seat with a connection of its own, which is opened at its first use.
    init(_ memory: StoreMemory, label: String, _ executor: PostgresExecutor) {
      place = .own(executor.connection(memory, label: label))
    }

    /// Creates a seat on the connections of a pool.
    init(_ seat: LentSeat) { place = .lent(seat) }

    /// Runs work of the store.
    ///
    /// - Parameter endsWithTask: Whether the task's cancellation ends a wait for a connection.
    func run<R: Sendable>(
      endsWithTask: Bool, _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      switch place {
      case .own(let connection): try await connection.run(body)
      case .lent(let seat): try await seat.run(endsWithTask: endsWithTask, body)
      }
    }

    /// The number of statements so far on a connection of its own.
    fileprivate func statementCount() async throws(SyncError) -> Int {
      if case .own(let connection) = place { return try await connection.run { $0.statementCount } }
      return 0
    }

    /// Refuses later work, after all that has begun.
    func close() async {
      switch place {
      case .own(let connection): await connection.close()
      case .lent(let seat): seat.close()
      }
    }
  }

  /// The seats of a store, for one transaction each.
  struct Seats: Sendable {
    private let seats: Lender<Seat>

    init(_ seats: [Seat]) { self.seats = Lender(seats) }

    /// Runs work of the store on the next free seat.
    ///
    /// - Parameter endsWithTask: Whether the task's cancellation ends the wait for one.
    /// - Throws: `cancelled` if it has.
    func run<R: Sendable>(
      endsWithTask: Bool = false, _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let seat = try await seats.take(endsWithTask: endsWithTask)
      defer { seats.giveBack(seat) }
      return try await seat.run(endsWithTask: endsWithTask, body)
    }

    /// The number of statements so far on connections of their own.
    func statementCount() async throws(SyncError) -> Int {
      var count = 0
      for seat in seats.items { count += try await seat.statementCount() }
      return count
    }

    /// Refuses later work, after all that has begun.
    func close() async {
      for seat in seats.items { await seat.close() }
    }
  }
#endif
