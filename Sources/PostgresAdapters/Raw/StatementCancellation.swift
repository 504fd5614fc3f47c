#if Postgres
  import CanonicalSyncCPostgres

  /// Cancels the statement that a connection runs, from any thread.
  final class StatementCancellation: Sendable {
    // libpq documents that this object may be used on any thread, beside the connection.
    private nonisolated(unsafe) let handle: OpaquePointer

    init?(_ connection: OpaquePointer) {
      guard let handle = PQgetCancel(connection) else { return nil }
      self.handle = handle
    }

    deinit { PQfreeCancel(handle) }

    func cancel() {
      var words = [CChar](repeating: 0, count: 256)
      _ = PQcancel(handle, &words, Int32(words.count))
    }
  }
#endif
