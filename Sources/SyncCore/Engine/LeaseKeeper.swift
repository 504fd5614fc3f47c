import SyncModels
import SyncPorts
import Synchronization

/// Keeps the store's lease while some work lasts, and runs the work's transactions under it.
///
/// The lease is renewed after each third of its duration, beside the work and before a transaction.
/// If another holder takes it over, the work's task is cancelled.
final class LeaseKeeper: Sendable {
  private let store: any LocalStore
  private let schema: SyncSchema
  private let clock: any Clock<Duration>
  private let duration: Duration
  private let state: Mutex<State>
  /// The lease's fencing number.
  let fence: Int64

  private struct State {
    var lease: Lease
    /// The time since the lease was acquired or renewed.
    var age: @Sendable () -> Duration
    /// Why the lease is lost; `nil` while it is held.
    var loss: SyncError?
  }

  private init(
    _ lease: Lease, of store: any LocalStore, by schema: SyncSchema, clock: any Clock<Duration>,
    for duration: Duration
  ) {
    self.store = store
    self.schema = schema
    self.clock = clock
    self.duration = duration
    fence = lease.fence
    state = Mutex(State(lease: lease, age: clock.stopwatch()))
  }

  /// Does some work under a store's lease, and always releases the lease afterwards.
  ///
  /// - Throws: `declarationsReplaced` if other declarations were registered since the environment's;
  ///   `syncAlreadyInProgress` if another holder has the lease; what the work throws.
  static func hold<R: Sendable>(
    _ environment: RunEnvironment,
    _ work: @escaping @Sendable (LeaseKeeper) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let (duration, schema) = (environment.options.leaseDuration, environment.schema)
    // What works by replaced declarations may have other effects before its first transaction.
    try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.demandDecision(by: schema)
    }
    let lease = try await environment.store.acquireLease(for: duration)
    return try await hold(
      lease, of: environment.store, by: schema, clock: environment.clock, for: duration, work)
  }

  /// Does some work under an acquired lease, and always releases the lease afterwards.
  ///
  /// - Parameter duration: How long the lease lasts after each renewal.
  /// - Throws: `leaseLost` if another holder took the lease over; what the work throws.
  static func hold<R: Sendable>(
    _ lease: Lease, of store: any LocalStore, by schema: SyncSchema, clock: any Clock<Duration>,
    for duration: Duration, _ work: @escaping @Sendable (LeaseKeeper) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let keeper = LeaseKeeper(lease, of: store, by: schema, clock: clock, for: duration)
    let result = await running(beside: { await keeper.renewUntilLost() }) {
      await Result(of: { () throws(SyncError) in try await work(keeper) })
    }
    let end = keeper.state.withLock { $0 }
    // The work has succeeded or failed already. A lease that cannot be released expires by itself.
    try? await store.release(end.lease)
    if let loss = end.loss { throw loss }
    return try result.get()
  }

  /// Runs one transaction under the lease.
  ///
  /// - Parameter asDecider: Whether the transaction depends on the declarations of the work.
  /// - Throws: `declarationsReplaced` if other declarations than the work's were registered since;
  ///   what ``LocalStore/write(_:_:)`` throws.
  func write<R: Sendable>(
    asDecider: Bool = true, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await renewIfDue()
    let schema = schema
    return try await store.write(.lease(state.withLock { $0.lease })) { (transaction) throws(SyncError) in
      if asDecider { try transaction.demandDecision(by: schema) }
      return try body(transaction)
    }
  }

  private func renewIfDue() async throws(SyncError) {
    let (lease, isDue) = state.withLock { ($0.lease, $0.age() >= duration / 3) }
    guard isDue else { return }
    let renewed = try await store.renew(lease, for: duration)
    let age = clock.stopwatch()
    state.withLock { ($0.lease, $0.age) = (renewed, age) }
  }

  /// Renews the lease until another holder takes it over, or the task is cancelled.
  private func renewUntilLost() async {
    while (try? await clock.pause(for: duration / 3, as: .lease)) != nil {
      do throws(SyncError) {
        try await renewIfDue()
      } catch {
        // A busy store may be free next time. A lease that another holder took over is lost for
        // good.
        if error.code == .leaseLost { return state.withLock { $0.loss = error } }
      }
    }
  }
}

/// Runs some work beside a companion: the first of them that ends cancels the other.
///
/// - Returns: The work's result, also if the companion ended first.
func running<R: Sendable>(
  beside companion: @escaping @Sendable () async -> Void, _ work: @escaping @Sendable () async -> R
) async -> R {
  await withTaskGroup(of: R?.self) { group in
    group.addTask { await work() }
    group.addTask {
      await companion()
      return nil
    }
    var result: R?
    while let ended = await group.next() {
      if let ended { result = ended }
      group.cancelAll()
    }
    // The work's task always returns a result, so this never does the work again.
    guard let result else { return await work() }
    return result
  }
}
