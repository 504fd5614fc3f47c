public import SyncPorts

/// Access of the checks to a salvage source, and to the store that it reads.
///
/// One harness has one store, which is empty at first, and serves one check.
public struct SalvageHarness: Sendable {
  /// Opens the store.
  public var open: @Sendable () async throws -> any LocalStore
  /// Closes the store, before a source reads it.
  public var close: @Sendable (any LocalStore) async throws -> Void
  /// Creates a source that reads the closed store.
  public var makeSource: @Sendable () async throws -> any SalvageSource
  /// Closes a source; `nil` if it holds nothing.
  public var closeSource: (@Sendable (any SalvageSource) async -> Void)?
  /// Damages the closed store, so that entries are lost; `nil` if that is impossible.
  public var damage: (@Sendable () async throws -> Void)?
  /// Makes the closed store unreadable; `nil` if that is impossible.
  public var destroy: (@Sendable () async throws -> Void)?

  /// Creates access to a source. Checks that need a `nil` function are skipped.
  public init(
    open: @escaping @Sendable () async throws -> any LocalStore,
    close: @escaping @Sendable (any LocalStore) async throws -> Void,
    makeSource: @escaping @Sendable () async throws -> any SalvageSource,
    closeSource: (@Sendable (any SalvageSource) async -> Void)? = nil,
    damage: (@Sendable () async throws -> Void)? = nil, destroy: (@Sendable () async throws -> Void)? = nil
  ) {
    self.open = open
    self.close = close
    self.makeSource = makeSource
    self.closeSource = closeSource
    self.damage = damage
    self.destroy = destroy
  }
}
