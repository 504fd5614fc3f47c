#if Postgres
  import Dispatch
  import SyncModels
  import Synchronization

  /// A connection whose work runs in order on a thread of its own.
  ///
  /// libpq blocks the thread while it waits for the server. Work waits for its turn without
  /// blocking a thread that tasks share.
  final class SerialConnection: Sendable {
    // Only the connection's own work waits for this lock, on the connection's thread. Without a
    // thread of its own, callers wait for it.
    private let state: Mutex<Connection?>
    private let hop: Hop?

    /// Describes a connection that is opened at its first use.
    ///
    /// - Parameter isInline: Whether work runs on the caller's thread, for simulators that schedule
    ///   everything themselves.
    init(_ memory: StoreMemory, label: String, isInline: Bool) {
      state = Mutex(Connection(memory))
      hop = isInline ? nil : Hop(DispatchLane(label: label))
    }

    /// Runs work on the connection.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      guard let hop else { return try runHere(body) }
      return try await hop.run { () throws(SyncError) -> R in try runHere(body) }
    }

    /// Closes the connection after all work that has begun.
    func close() async {
      guard let hop else { return closeHere() }
      await hop.run { closeHere() }
    }

    private func closeHere() {
      state.withLock { connection in
        connection?.end()
        connection = nil
      }
    }

    private func runHere<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      try state.withLock { (connection: inout sending Connection?) throws(SyncError) -> R in
        guard let connection else {
          throw SyncError.closedStore
        }
        return try body(connection)
      }
    }
  }

  /// Runs work on an executor.
  private actor Hop {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialExecutor) { self.executor = executor }

    func run<R: Sendable, Failure>(_ work: @Sendable () throws(Failure) -> R) throws(Failure) -> R {
      try work()
    }
  }

  /// A Dispatch queue as a serial executor.
  private final class DispatchLane: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }
#endif
