public import SyncModels

/// A store that can check the parts of its format that ``StoreSnapshot`` does not show.
public protocol VerifiableStore: LocalStore {
  /// Checks the store's own files, tables and indexes, while the store may be in use.
  ///
  /// For implementers: check what a walk over snapshots cannot see, such as pages, indexes and
  /// entries without an owner. Change nothing. What cannot be read is a finding, not an error.
  ///
  /// - Parameter limit: The most findings to return.
  /// - Throws: `storeBusy` or `cancelled`. Nothing was changed.
  func formatFindings(limit: Int) async throws(SyncError) -> [StoreFinding]
}
