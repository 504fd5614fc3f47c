public import SyncPorts

/// Access of the checks to a store that verifies its own format.
///
/// One harness has one store, which is empty at first, and serves one check.
public struct VerificationHarness: Sendable {
  /// Opens the store.
  public var open: @Sendable () async throws -> any VerifiableStore
  /// Makes at least three contradictions in the store, and returns a handle of it.
  ///
  /// It is `nil` if that is impossible. The handle that it is given is not used again.
  public var damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)?

  /// Creates access to a store. Checks that need a `nil` function are skipped.
  public init(
    open: @escaping @Sendable () async throws -> any VerifiableStore,
    damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)? = nil
  ) {
    self.open = open
    self.damage = damage
  }
}
