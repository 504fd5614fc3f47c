public import SyncModels

/// A store that can check the parts of its format that ``StoreSnapshot`` does not show.
public protocol VerifiableStore: LocalStore {
  /// Checks the store's own files, tables and indexes, while the store may be in use.
  ///
  /// For implementers: check what a walk over snapshots cannot see, such as pages, indexes and
  /// entries without an owner. Change nothing. What cannot be read is a finding, not an error.
  ///
  /// - Parameters:
  ///   - limit: The most findings to return.
  ///   - isQuick: Whether checks may be left out that take longer than one read of the store.
  /// - Throws: `storeBusy` or `cancelled`. Nothing was changed.
  func formatFindings(limit: Int, isQuick: Bool) async throws(SyncError) -> [StoreFinding]
}

extension VerifiableStore {
  /// Checks the store's own format whole.
  public func formatFindings(limit: Int) async throws(SyncError) -> [StoreFinding] {
    try await formatFindings(limit: limit, isQuick: false)
  }
}
