import SyncModels
import SyncPorts

/// The lease for a series of short transactions, renewed between them.
struct LeaseKeeper {
  private let store: any LocalStore
  private let clock: any Clock<Duration>
  private let duration: Duration
  private var lease: Lease
  private var age: @Sendable () -> Duration

  /// The lease's fencing number.
  var fence: Int64 { lease.fence }

  private init(
    _ store: any LocalStore, _ clock: any Clock<Duration>, _ duration: Duration
  ) async throws(SyncError) {
    self.store = store
    self.clock = clock
    self.duration = duration
    lease = try await store.acquireLease(for: duration)
    age = clock.stopwatch()
  }

  /// Does some work under a lease, and always releases the lease afterwards.
  ///
  /// - Throws: `syncAlreadyInProgress` if another holder has the lease; what the work throws.
  static func hold<R>(
    _ environment: RunEnvironment, _ work: (inout LeaseKeeper) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await hold(
      of: environment.store, clock: environment.clock, for: environment.options.leaseDuration, work)
  }

  /// Does some work under a store's lease, and always releases the lease afterwards.
  ///
  /// - Parameter duration: How long the lease lasts unless it is renewed, which it is between two
  ///   transactions.
  static func hold<R>(
    of store: any LocalStore, clock: any Clock<Duration>, for duration: Duration,
    _ work: (inout LeaseKeeper) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    var keeper = try await LeaseKeeper(store, clock, duration)
    let result: Result<R, SyncError>
    do throws(SyncError) {
      result = .success(try await work(&keeper))
    } catch {
      result = .failure(error)
    }
    // The work has succeeded or failed already. A lease that cannot be released expires by itself.
    try? await keeper.store.release(keeper.lease)
    return try result.get()
  }

  /// Runs one transaction under the lease.
  mutating func write<R: Sendable>(
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    if age() >= duration / 3 {
      lease = try await store.renew(lease, for: duration)
      age = clock.stopwatch()
    }
    return try await store.write(.lease(lease), body)
  }
}
