public import SyncModels
public import SyncPorts
import Synchronization

/// A store that lives as long as its process: the reference for all others, and the fake for an app's own tests.
///
/// Transactions are real ones: a body works on a copy, which takes the place of the committed state when the body returns
/// and is dropped when it throws. Reads run beside each other and beside a write, on the last committed state.
public final class InMemoryStore: LocalStore {
  struct State {
    var committed = StoreState()
    var fence: Int64 = 0
    /// When the lease with the last fence ends; `nil` once it was given back.
    var leaseEnd: Timestamp?
  }

  private let identity: String
  let leaseClock: @Sendable () -> Timestamp
  let state = Mutex(State())
  // Held while a body writes, so that writes queue; `state` is only held to take a copy and to put one back.
  private let writer = Mutex<Void>(())

  /// An empty store.
  ///
  /// - Parameters:
  ///   - identity: The store's name; another store needs another.
  ///   - leaseClock: What the lease's end is compared with; the wall clock, unless a test says otherwise.
  public init(
    identity: String = "memory",
    leaseClock: @escaping @Sendable () -> Timestamp = { ContinuousClock().timestamp }
  ) {
    self.identity = identity
    self.leaseClock = leaseClock
  }

  /// Makes the store fit for a schema.
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

  /// Runs reads and writes as one transaction: whole, or not at all when the body throws.
  public func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    #if MUTANTS
      let authority = try await checkedTooEarly(authority)
    #endif
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
        // The lease may have been taken over while the body ran.
        try state.demand(authority)
        state.committed = committed
      }
      return result
    }
  }

  /// The live records of a type, by key; none for a type that is not registered.
  public func records(of type: RecordType) -> [Record] {
    state.withLock { $0.committed.tables[type] }?.records(Query(type)) ?? []
  }
}

#if MUTANTS
  extension InMemoryStore {
    /// Compares the fence before the transaction, and not in it.
    private func checkedTooEarly(_ authority: WriteAuthority) async throws(SyncError) -> WriteAuthority {
      guard Mutant.fenceOutsideTransaction.isActive else { return authority }
      try state.withLock { state throws(SyncError) in try state.demand(authority) }
      for _ in 1...3 { await Task.yield() }
      return .app
    }
  }
#endif
