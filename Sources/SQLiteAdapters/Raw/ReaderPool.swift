#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// A pool of reading connections; each read takes the next free one.
  struct ReaderPool: Sendable {
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
#endif
