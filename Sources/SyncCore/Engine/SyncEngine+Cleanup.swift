public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Hides old records, and removes old conflicts and ended values, by a policy.
  ///
  /// Only values that are members of records are removed by an edit, which is pushed to the remote;
  /// see ``ExpiringMember``.
  ///
  /// A hidden record is not shown and counts as absent. The remote still has it, as hiding is
  /// local. The record is shown again once the remote changes it, a record that refers to it
  /// arrives, or the app edits it. A listing that holds it unchanged does not show it again. Three
  /// kinds of records are spared: records with pending edits, records that others refer to, and
  /// records with a withheld change. ``status()`` counts the hidden records.
  ///
  /// A policy defines all that is hidden. A record that an earlier clean-up hid and no rule of this
  /// one hides is shown again first; the rule may have changed or been removed, or the clock may
  /// have been ahead. Two policies in turn would undo each other, so combine them into one.
  ///
  /// - Parameter token: Requests a stop, which takes effect between transactions. Cancelling the
  ///   task does the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared; `syncAlreadyInProgress`
  ///   while a sync runs; the store's codes. Earlier commits stay.
  /// - Complexity: O(*h*) in the hidden records; O(*m*) in the type's records for an age by
  ///   modification, otherwise as the rule's query.
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
