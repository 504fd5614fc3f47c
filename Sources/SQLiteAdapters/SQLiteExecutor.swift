#if SQLite
  import CanonicalSyncDatabases

  /// Runs a store's SQLite calls, which block a thread while they wait.
  ///
  /// They wait for the disk or for a lock.
  public struct SQLiteExecutor: Sendable {
    let makeQueue: @Sendable (String) -> (any SerialExecutor)?
    /// Whether reads may run on the threads of their tasks.
    let usesTaskThreads: Bool

    /// Creates an executor that runs each connection's work on a serial executor.
    ///
    /// - Parameter makeQueue: Makes the executor of one connection. Its argument is a label for
    ///   debuggers.
    public init(_ makeQueue: @escaping @Sendable (_ label: String) -> any SerialExecutor) {
      self.init(usesTaskThreads: false) { makeQueue($0) }
    }

    private init(
      usesTaskThreads: Bool, _ makeQueue: @escaping @Sendable (String) -> (any SerialExecutor)?
    ) {
      self.makeQueue = makeQueue
      self.usesTaskThreads = usesTaskThreads
    }

    /// Runs on queues of Dispatch, one for each connection.
    ///
    /// A write never runs on the threads that Swift tasks share. A read does, because the way to
    /// another thread and back would take longer than most reads. At least one of these threads
    /// stays free of reads: further ones run on the queues. So do the reads of a task that prefers
    /// an executor. A read that is called on an actor leaves the actor free.
    public static let dispatch = SQLiteExecutor(usesTaskThreads: true) { DispatchLane(label: $0) }

    /// Runs on the caller's own thread, for simulators that schedule everything themselves.
    public static let inline = SQLiteExecutor(usesTaskThreads: false) { _ in nil }
  }
#endif
