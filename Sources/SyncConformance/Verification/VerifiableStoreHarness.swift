public import SyncPorts

/// Access of the checks to a store that verifies its own format.
///
/// One harness has one store, which is empty at first, and serves one check.
public struct VerifiableStoreHarness: Sendable {
  /// Opens the store.
  public var open: @Sendable () async throws -> any VerifiableStore
  /// Makes contradictions in the store; `nil` if that is impossible.
  ///
  /// It returns a handle of the store. The one that it is given is not used again. Several
  /// contradictions show more.
  public var damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)?
  /// Makes a part of the store unreadable, as `damage` does; `nil` if that is impossible.
  public var destroy: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)?

  /// Creates access to a store. Checks that need a `nil` function are skipped.
  public init(
    open: @escaping @Sendable () async throws -> any VerifiableStore,
    damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)? = nil,
    destroy: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)? = nil
  ) {
    self.open = open
    self.damage = damage
    self.destroy = destroy
  }
}
