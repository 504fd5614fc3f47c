#if Postgres
  import SyncModels
  import Synchronization

  /// A pool of reading connections; each read takes the next free one.
  final class ReaderPool: Sendable {
    private struct State {
      var idle: [SerialConnection]
      var waiting: [CheckedContinuation<SerialConnection, Never>] = []
    }

    private let connections: [SerialConnection]
    private let state: Mutex<State>

    init(_ connections: [SerialConnection]) {
      self.connections = connections
      state = Mutex(State(idle: connections.reversed()))
    }

    /// Runs a read on a free connection.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let connection = await take()
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

    private func take() async -> SerialConnection {
      if let connection = state.withLock({ $0.idle.popLast() }) { return connection }
      return await withCheckedContinuation { continuation in
        let connection = state.withLock { state -> SerialConnection? in
          if let connection = state.idle.popLast() { return connection }
          state.waiting.append(continuation)
          return nil
        }
        if let connection { continuation.resume(returning: connection) }
      }
    }

    private func giveBack(_ connection: SerialConnection) {
      let next = state.withLock { state -> CheckedContinuation<SerialConnection, Never>? in
        if state.waiting.isEmpty {
          state.idle.append(connection)
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.resume(returning: connection)
    }
  }
#endif
