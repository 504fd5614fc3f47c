public import SyncPorts

/// How the checks get at a store: one harness holds one store, which is empty at first, and serves one check.
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

  /// Describes how to get at a store.
  ///
  /// - Parameters:
  ///   - open: Opens the harness's store. A second call opens it a second time, as another process would; the handle before may
  ///     still be in use.
  ///   - openAnother: Opens another, empty store.
  ///   - advanceLeaseClock: Moves the clock that the leases of both run by; `nil` where that cannot be done.
  ///   - isDurable: Whether what was committed is there when the store is opened again.
  public init(
    open: @escaping @Sendable () async throws -> any LocalStore,
    openAnother: @escaping @Sendable () async throws -> any LocalStore,
    advanceLeaseClock: (@Sendable (Duration) -> Void)?, isDurable: Bool = false
  ) {
    self.open = open
    self.openAnother = openAnother
    self.advanceLeaseClock = advanceLeaseClock
    self.isDurable = isDurable
  }
}
