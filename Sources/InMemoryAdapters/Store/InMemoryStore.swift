public import SyncModels
public import SyncPorts
import Synchronization

/// A store in memory: the reference implementation, and a fake for apps' tests.
///
/// It lives as long as its process. Transactions are real. A body works on a copy, which replaces
/// the committed state when the body returns, and is dropped when the body throws. Reads run
/// concurrently with each other and with a write, on the last committed state.
public final class InMemoryStore: LocalStore {
  struct State {
    var committed = StoreState()
    var fence: Int64 = 0
    /// The end of the lease with the last fence; `nil` after it was given back.
    var leaseEnd: Timestamp?
  }

  private let identity: String
  let leaseClock: @Sendable () -> Timestamp
  let state = Mutex(State())
  // Held while a body writes, so that writes queue. `state` is locked only to copy it and to
  // replace it.
  private let writer = Mutex<Void>(())

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - identity: The store's name, unique to it.
  ///   - leaseClock: The clock for the lease's end; by default the wall clock.
  public init(
    identity: String = "memory",
    leaseClock: @escaping @Sendable () -> Timestamp = { ContinuousClock().timestamp }
  ) {
    self.identity = identity
    self.leaseClock = leaseClock
  }

  /// Prepares the store for a schema.
  public func register(_ schema: SyncSchema) async throws(SyncError) {
    writer.withLock { _ in
      var changed = state.withLock { $0.committed }
      changed.register(schema)
      let registered = changed
      state.withLock { $0.committed = registered }
    }
  }

  /// Runs reads over the last committed state.
  public func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try body(MemorySnapshot(identity: identity, state: state.withLock { $0.committed }))
  }

  /// Runs reads and writes as one transaction.
  ///
  /// If the body throws, nothing is written.
  public func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    return try writer.withLock { _ throws(SyncError) in
      let before = try state.withLock { state throws(SyncError) in
        try state.demand(authority)
        return state.committed
      }
      let transaction = MemoryTransaction(identity: identity, state: before)
      let result = try body(transaction)
      var after = transaction.state
      after.changes.close()
      let committed = after
      try state.withLock { state throws(SyncError) in
        // Another sync may have taken the lease over while the body ran.
        try state.demand(authority)
        state.committed = committed
      }
      return result
    }
  }

  /// The live records of a type, by key; none for an unregistered type.
  public func records(of type: RecordType) -> [Record] {
    state.withLock { $0.committed.tables[type] }?.records(Query(type)) ?? []
  }
}
