#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  import SyncModels
  import Synchronization

  /// A pool of reading connections; each read takes the next free one.
  final class ReaderPool: Sendable {
    private let connections: Lender<SerialConnection<Connection>>
    private let usesTaskThreads: Bool

    /// - Parameter usesTaskThreads: Whether reads may run on the threads of their tasks.
    init(_ connections: [SerialConnection<Connection>], usesTaskThreads: Bool) {
      self.connections = Lender(connections)
      self.usesTaskThreads = usesTaskThreads
    }

    /// Runs a read on a free connection.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let connection = try await connections.take(endsWithTask: false)
      defer { connections.giveBack(connection) }
      if usesTaskThreads, TaskThreads.borrow() {
        defer { TaskThreads.giveBack() }
        if let result = try await connection.runAtOnce(body) { return result }
      }
      return try await connection.run(body)
    }

    /// Closes the connections after all reads that have begun.
    func close() async {
      for connection in connections.items { await connection.close() }
    }

    /// Runs work on every connection, one after another.
    func runOnEach(_ body: @Sendable (Connection) throws(SyncError) -> Void) async throws(SyncError) {
      for connection in connections.items { try await connection.run(body) }
    }
  }

  /// Limits the reads that run on the threads that Swift tasks share.
  ///
  /// One of these threads stays free of reads in the whole process. The tasks go on there while
  /// reads wait for the disk. With a single processor, no read runs on such a thread.
  enum TaskThreads {
    private static let limit = Int(csqlite_processor_count()) - 1
    private static let borrowed = Atomic(0)

    /// Takes a thread for a read of the current task, if another one stays free.
    ///
    /// A task that prefers an executor of the app's own has no such thread.
    static func borrow() -> Bool {
      guard withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor == nil }) else { return false }
      if borrowed.add(1, ordering: .relaxed).oldValue < limit { return true }
      giveBack()
      return false
    }

    /// Ends a read for which a thread was borrowed.
    static func giveBack() {
      borrowed.subtract(1, ordering: .relaxed)
    }
  }
#endif
