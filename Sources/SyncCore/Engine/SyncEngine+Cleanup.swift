public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Hides records that a policy says are too old, forgets old conflicts, and purges values that have ended.
  ///
  /// Only values that are members of records leave them by an edit, which the remote is told; see ``ExpiringMember``.
  ///
  /// A hidden record is not shown and counts as absent. The remote is not told, and has it still; once it changes it there, or a record that arrives refers to it, or
  /// the app edits it, it is shown again. A listing that holds it unchanged does not bring it back. Records with pending edits, ones that
  /// others refer to, and ones of which a change is set aside are spared. ``status()`` counts what is hidden.
  ///
  /// The policy is the whole answer: what an earlier clean-up hid and no rule of this one hides (the rule has changed, or is gone, or the clock was ahead
  /// then) is shown again first. Two policies in turn would undo each other; make one of them.
  ///
  /// - Parameter token: Somebody's wish to stop, honoured between transactions; cancelling the task does the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared; `syncAlreadyInProgress` while a sync runs; the store's codes, and what was
  ///   committed before stays.
  /// - Complexity: O(*h*) in the hidden records; O(*m*) in the type's records for an age by modification, otherwise as the rule's query.
  @discardableResult
  public func cleanUp(
    _ policy: CleanupPolicy, token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> CleanupReport {
    for type in policy.rules.map(\.type) + policy.expiring.map(\.type) where schema[type] == nil {
      throw SyncError(
        .invalidConfiguration, during: "cleaning up", "The record type \(type) is not declared.")
    }
    guard policy.recordsAtOnce > 0 else {
      throw SyncError(
        .invalidConfiguration, during: "cleaning up", "A transaction takes up 1 record or more.")
    }
    return try await CleanupRun(
      environment: environment, edits: edits, policy: policy, stop: StopSignal(token: token)
    ).perform()
  }
}
