#if Postgres
  import Dispatch
  import SyncModels
  import Synchronization

  /// A connection whose work runs in order on a thread of its own.
  ///
  /// libpq blocks the thread while it waits for the server. Work waits for its turn without
  /// blocking a thread that tasks share.
  final class ConnectionLane: Sendable {
    // Only the connection's own work waits for this lock, on the connection's thread. Without a
    // thread of its own, callers wait for it.
    private let state: Mutex<Connection?>
    private let hop: Hop?

    /// Describes a connection that is opened at its first use.
    ///
    /// - Parameter isInline: Whether work runs on the caller's thread, for simulators that schedule
    ///   everything themselves.
    init(_ settings: ConnectionSettings, label: String, isInline: Bool) {
      state = Mutex(Connection(settings))
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

    private func closeHere() { state.withLock { $0 = nil } }

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

  /// A pool of reading connections; each read takes the next free one.
  final class ConnectionPool: Sendable {
    private struct State {
      var idle: [ConnectionLane]
      var waiting: [CheckedContinuation<ConnectionLane, Never>] = []
    }

    private let lanes: [ConnectionLane]
    private let state: Mutex<State>

    init(_ lanes: [ConnectionLane]) {
      self.lanes = lanes
      state = Mutex(State(idle: lanes.reversed()))
    }

    /// Runs a read on a free connection.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let lane = await take()
      defer { giveBack(lane) }
      return try await lane.run(body)
    }

    /// The sum of a number over all connections.
    func sum(_ number: @Sendable (Connection) -> Int) async throws(SyncError) -> Int {
      var sum = 0
      for lane in lanes { sum += try await lane.run { connection in number(connection) } }
      return sum
    }

    /// Closes the connections after all reads that have begun.
    func close() async {
      for lane in lanes { await lane.close() }
    }

    private func take() async -> ConnectionLane {
      if let lane = state.withLock({ $0.idle.popLast() }) { return lane }
      return await withCheckedContinuation { continuation in
        let lane = state.withLock { state -> ConnectionLane? in
          if let lane = state.idle.popLast() { return lane }
          state.waiting.append(continuation)
          return nil
        }
        if let lane { continuation.resume(returning: lane) }
      }
    }

    private func giveBack(_ lane: ConnectionLane) {
      let next = state.withLock { state -> CheckedContinuation<ConnectionLane, Never>? in
        if state.waiting.isEmpty {
          state.idle.append(lane)
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.resume(returning: lane)
    }
  }
#endif
