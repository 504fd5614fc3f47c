public import SyncModels
public import SyncPorts

/// Where the processes of one world get their store from: the same data for all, opened anew by each life of each.
public struct StoreBench: Sendable {
  let open: @Sendable () async throws(SyncError) -> any LocalStore
  let close: @Sendable (any LocalStore) async -> Void
  let discard: @Sendable () -> Void

  /// Describes how a world opens, closes and throws away its store.
  ///
  /// All work has to be done on the calling task: a store that hops to a thread of its own makes runs differ, and fails them.
  ///
  /// - Parameters:
  ///   - open: Opens the store, as a process does that starts.
  ///   - close: Closes what was opened, as happens when a process ends or is killed.
  ///   - discard: Throws the data away at the end of the world.
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
