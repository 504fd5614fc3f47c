#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import Synchronization

  /// A pool of reading connections; each read takes the next free one.
  final class ReaderPool: Sendable {
    private struct State {
      var idle: [SerialConnection<Connection>]
      var waiting: [CheckedContinuation<SerialConnection<Connection>, Never>] = []
    }

    private let connections: [SerialConnection<Connection>]
    private let usesTaskThreads: Bool
    private let state: Mutex<State>

    /// - Parameter usesTaskThreads: Whether reads may run on the threads of their tasks.
    init(_ connections: [SerialConnection<Connection>], usesTaskThreads: Bool) {
      self.connections = connections
      self.usesTaskThreads = usesTaskThreads
      state = Mutex(State(idle: connections.reversed()))
    }

    /// Runs a read on a free connection.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let connection = await take()
      defer { giveBack(connection) }
      if usesTaskThreads, TaskThreads.borrow() {
        defer { TaskThreads.giveBack() }
        if let result = try await connection.runAtOnce(body) { return result }
      }
      return try await connection.run(body)
    }

    /// Closes the connections after all reads that have begun.
    func close() async {
      for connection in connections { await connection.close() }
    }

    /// Runs work on every connection, one after another.
    func runOnEach(_ body: @Sendable (Connection) throws(SyncError) -> Void) async throws(SyncError) {
      for connection in connections { try await connection.run(body) }
    }

    private func take() async -> SerialConnection<Connection> {
      if let connection = state.withLock({ $0.idle.popLast() }) { return connection }
      return await withCheckedContinuation { continuation in
        let connection = state.withLock { state -> SerialConnection<Connection>? in
          if let connection = state.idle.popLast() { return connection }
          state.waiting.append(continuation)
          return nil
        }
        if let connection { continuation.resume(returning: connection) }
      }
    }

    private func giveBack(_ connection: SerialConnection<Connection>) {
      let next = state.withLock { state -> CheckedContinuation<SerialConnection<Connection>, Never>? in
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
