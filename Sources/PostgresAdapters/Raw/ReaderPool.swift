#if Postgres
  import SyncModels
  import Synchronization

  /// A pool of reading connections; each read takes the next free one.
  final class ReaderPool: Sendable {
    private struct State {
      var idle: [SerialConnection]
      var waiting: [Waiter] = []
      var nextNumber = 0
    }

    private struct Waiter {
      var number: Int
      /// Gets no connection if its task was cancelled.
      var continuation: CheckedContinuation<SerialConnection?, Never>
    }

    private let connections: [SerialConnection]
    private let state: Mutex<State>

    init(_ connections: [SerialConnection]) {
      self.connections = connections
      state = Mutex(State(idle: connections.reversed()))
    }

    /// Runs a read on a free connection.
    ///
    /// - Throws: `cancelled` if its task is cancelled while it waits for one.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let connection = try await take()
      defer { giveBack(connection) }
      return try await connection.run(body)
    }

    /// The sum of a number over all connections.
    func sum(_ number: @Sendable (Connection) -> Int) async throws(SyncError) -> Int {
      var sum = 0
      for connection in connections { sum += try await connection.run { number($0) } }
      return sum
    }

    /// Closes the connections after all reads that have begun.
    func close() async {
      for connection in connections { await connection.close() }
    }

    private func take() async throws(SyncError) -> SerialConnection {
      let number = state.withLock { state in
        state.nextNumber += 1
        return state.nextNumber
      }
      let connection = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // One that was cancelled before it waits has no one to end its wait.
          let isCancelled = Task.isCancelled
          let (connection, isWaiting) = state.withLock { state -> (SerialConnection?, Bool) in
            if let connection = state.idle.popLast() { return (connection, false) }
            if isCancelled { return (nil, false) }
            state.waiting.append(Waiter(number: number, continuation: continuation))
            return (nil, true)
          }
          if !isWaiting { continuation.resume(returning: connection) }
          // The cancellation may have come between.
          if isWaiting, Task.isCancelled { leave(number) }
        }
      } onCancel: {
        leave(number)
      }
      if let connection { return connection }
      throw SyncError(.cancelled, during: "waiting for a connection", "The task was cancelled.")
    }

    private func leave(_ number: Int) {
      let waiter = state.withLock { state -> Waiter? in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
      }
      waiter?.continuation.resume(returning: nil)
    }

    private func giveBack(_ connection: SerialConnection) {
      let next = state.withLock { state -> Waiter? in
        if state.waiting.isEmpty {
          state.idle.append(connection)
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.continuation.resume(returning: connection)
    }
  }
#endif
