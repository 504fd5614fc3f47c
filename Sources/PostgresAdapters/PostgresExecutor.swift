#if Postgres
  import CanonicalSyncDatabases

  /// Runs a store's calls into libpq, which block a thread while they wait for the server.
  public struct PostgresExecutor: Sendable {
    private let makeQueue: @Sendable (String) -> (any SerialExecutor)?
    let isInline: Bool

    /// Creates an executor that runs each connection's work on a serial executor.
    ///
    /// - Parameter makeQueue: Makes the executor of one connection. Its argument is a label for
    ///   debuggers.
    public init(_ makeQueue: @escaping @Sendable (_ label: String) -> any SerialExecutor) {
      self.init(isInline: false) { makeQueue($0) }
    }

    private init(isInline: Bool, _ makeQueue: @escaping @Sendable (String) -> (any SerialExecutor)?) {
      (self.isInline, self.makeQueue) = (isInline, makeQueue)
    }

    /// Runs on queues of Dispatch, one for each connection.
    public static let dispatch = PostgresExecutor { DispatchLane(label: $0) }

    /// Runs on the caller's own thread, for simulators that schedule everything themselves.
    public static let inline = PostgresExecutor(isInline: true) { _ in nil }

    /// Describes a connection that works there.
    func connection(_ memory: StoreMemory, label: String) -> SerialConnection<Connection> {
      SerialConnection(on: makeQueue("CanonicalSync.postgres.\(label)")) {
        Connection(memory)
      } end: { connection in
        connection.end()
      }
    }
  }
#endif
