package import SyncModels
import Synchronization

/// A connection whose work runs in order on its own executor.
///
/// Work waits for its turn without blocking a shared thread.
package final class SerialConnection<Connection>: Sendable {
  private enum State {
    case unopened
    case open(Connection)
    case closed
  }

  // Only the connection's own work waits for this lock, on the connection's queue. Without a queue,
  // callers wait for it. Work that runs at once does not wait.
  private let state = Mutex(State.unopened)
  private let calls = Atomic(0)
  private let isUsed = Atomic(false)
  private let hop: Hop?
  private let open: @Sendable () throws(SyncError) -> Connection
  private let end: @Sendable (Connection) -> Void

  /// Describes a connection that is opened at its first use.
  ///
  /// - Parameters:
  ///   - queue: Runs the work; `nil` for the caller's thread.
  ///   - open: Opens the connection.
  ///   - end: Ends the connection, unless its last reference does so.
  package init(
    on queue: (any SerialExecutor)?, open: @escaping @Sendable () throws(SyncError) -> Connection,
    end: @escaping @Sendable (Connection) -> Void = { _ in }
  ) {
    hop = queue.map { Hop($0) }
    self.open = open
    self.end = end
  }

  /// Whether work runs on a separate queue instead of the caller's thread.
  package var hasQueue: Bool { hop != nil }

  /// Whether calls wait for the one that is running.
  package var isAwaited: Bool { calls.load(ordering: .relaxed) > 1 }

  /// Runs work on the connection.
  package func run<R: Sendable>(
    _ body: @Sendable (Connection) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    isUsed.store(true, ordering: .releasing)
    guard let hop else { return try runHere(body) }
    calls.add(1, ordering: .relaxed)
    defer { calls.subtract(1, ordering: .relaxed) }
    return try await hop.run { () throws(SyncError) -> R in try runHere(body) }
  }

  /// Runs work at once on a thread that Swift tasks share.
  ///
  /// - Returns: `nil`, without the work, if the connection is in use or not yet open.
  @concurrent
  package func runAtOnce<R: Sendable>(
    _ body: @Sendable (Connection) throws(SyncError) -> R
  ) async throws(SyncError) -> R? {
    try state.withLockIfAvailable { (state: inout sending State) throws(SyncError) -> R? in
      guard case .open(let connection) = state else { return nil }
      return try body(connection)
    } ?? nil
  }

  /// Starts work on the connection without waiting for it.
  ///
  /// The work gets no connection if none can be opened, or after ``close()``.
  package func begin(_ work: @escaping @Sendable (Connection?) -> Void) {
    Task {
      do { try await run { connection in work(connection) } } catch { work(nil) }
    }
  }

  /// Closes the connection after all work that has begun.
  package func close() async {
    // Without any work, nothing waits on the executor, and nothing is open.
    guard let hop, isUsed.load(ordering: .acquiring) else { return closeHere() }
    await hop.run { closeHere() }
  }

  private func closeHere() {
    state.withLock { state in
      if case .open(let connection) = state { end(connection) }
      state = .closed
    }
  }

  private func runHere<R: Sendable>(
    _ body: @Sendable (Connection) throws(SyncError) -> R
  ) throws(SyncError) -> R {
    try state.withLock { (state: inout sending State) throws(SyncError) -> R in
      switch state {
      case .closed:
        throw SyncError.closedStore
      case .open(let connection):
        return try body(connection)
      case .unopened:
        let connection = try open()
        state = .open(connection)
        return try body(connection)
      }
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
