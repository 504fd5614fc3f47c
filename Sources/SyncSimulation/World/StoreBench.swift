public import SyncModels
public import SyncPorts

/// Opens the store of one world's processes.
///
/// All processes have the same data. Each life of a process opens the store again.
public struct StoreBench: Sendable {
  let open: @Sendable () async throws(SyncError) -> any LocalStore
  let close: @Sendable (any LocalStore) async -> Void
  let discard: @Sendable () -> Void

  /// Creates access to a world's store.
  ///
  /// All work must run on the calling task. A store that uses another thread makes runs differ, and
  /// fails them.
  ///
  /// - Parameters:
  ///   - open: Opens the store for a process that starts.
  ///   - close: Closes the store for a process that ends or is killed.
  ///   - discard: Deletes the data at the end of the world.
  public init(
    open: @escaping @Sendable () async throws(SyncError) -> any LocalStore,
    close: @escaping @Sendable (any LocalStore) async -> Void = { _ in },
    discard: @escaping @Sendable () -> Void = {}
  ) {
    self.open = open
    self.close = close
    self.discard = discard
  }
}
