public import SyncPorts

/// Access of the checks to a store.
///
/// One harness has one store, which is empty at first, and serves one check.
///
/// ```swift
/// @Test(arguments: LocalStoreCheck.allCases)
/// func conforms(_ check: LocalStoreCheck) async throws {
///   let clock = ManualClock()
///   let store = MyStore(leaseClock: { clock.timestamp })
///   let harness = LocalStoreHarness(
///     open: { store }, openAnother: { MyStore(named: "another") },
///     advanceLeaseClock: { clock.advance(by: $0) })
///   let outcome = try await check.run(on: harness)
///   …
/// }
/// ```
public struct LocalStoreHarness: Sendable {
  let open: @Sendable () async throws -> any LocalStore
  let openAnother: @Sendable () async throws -> any LocalStore
  let advanceLeaseClock: (@Sendable (Duration) -> Void)?
  let isDurable: Bool
  let readsAreConcurrent: Bool
  let close: (@Sendable (any LocalStore) async -> Void)?

  /// Creates access to a store.
  ///
  /// - Parameters:
  ///   - open: Opens the harness's store. A second call opens another handle, as another process
  ///     would. The first handle may still be in use.
  ///   - openAnother: Opens another, empty store.
  ///   - advanceLeaseClock: Advances the lease clock of both stores; `nil` if that is impossible.
  ///   - isDurable: Whether committed data remain when the store is opened again.
  ///   - readsAreConcurrent: Whether reads run beside each other and beside a write. If not, the
  ///     store breaks a promise, and the checks that need it are skipped.
  ///   - close: Closes a handle before the store is opened again, so that only what was kept is
  ///     there. `nil` if a handle holds nothing.
  public init(
    open: @escaping @Sendable () async throws -> any LocalStore,
    openAnother: @escaping @Sendable () async throws -> any LocalStore,
    advanceLeaseClock: (@Sendable (Duration) -> Void)?, isDurable: Bool = false,
    readsAreConcurrent: Bool = true, close: (@Sendable (any LocalStore) async -> Void)? = nil
  ) {
    self.open = open
    self.openAnother = openAnother
    self.advanceLeaseClock = advanceLeaseClock
    self.isDurable = isDurable
    self.readsAreConcurrent = readsAreConcurrent
    self.close = close
  }
}
