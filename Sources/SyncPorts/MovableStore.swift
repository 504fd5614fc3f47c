package import SyncModels

/// A store that another store may take the place of, under the same identity.
///
/// Of two stores with one identity at most one takes edits and syncs.
package protocol MovableStore: LocalStore {
  /// Refuses edits, syncs and leases from now on, and tells where the store has moved.
  ///
  /// - Parameter place: The new place, as errors name it; `nil` takes edits and syncs again.
  func retire(movedTo place: String?) async throws(SyncError)

  /// The place where the store has moved; `nil` for a store in use.
  func placeMovedTo() async throws(SyncError) -> String?

  /// Takes the identity of the store that this one is a copy of.
  ///
  /// Checkpoints of that store are valid here from now on.
  func adopt(identity: String) async throws(SyncError)
}
