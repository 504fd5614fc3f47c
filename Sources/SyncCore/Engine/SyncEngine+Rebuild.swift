public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Makes one record of each group of records that share a natural key, once for each version of the rebuild.
  ///
  /// The record that was written last wins: by its pending edit, else by its stamp field, else by the remote's modification time; of simultaneous ones the one
  /// whose id comes first. A stamp that is later than the remote's modification time by more than ``EditOptions/maximumClockSkew`` is not believed, and that time stands
  /// for it. The winner stays in place. References to the others are re-pointed to it, and the others are deleted, through the
  /// outbox where the remote has them, so that the remote sees exactly these deletions, after the edits. A record without a natural key has no duplicates.
  ///
  /// Groups are dealt with in batches, a transaction each; a rebuild that was interrupted goes on where it stopped. Once it
  /// is complete, the same and earlier versions do nothing. Duplicates that a sync brings, or that the app's own edits make, collapse in the
  /// same way at the end of the next sync.
  ///
  /// - Parameters:
  ///   - version: Which rebuild of the app's history this is; each has a greater number than those before it.
  ///   - dryRun: Whether to tell what would be done, and to do nothing. Where records of the type refer to each other, references
  ///     among losers of different batches are counted too.
  ///   - token: Somebody's wish to stop, honoured between batches; cancelling the task does the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared or has no natural key; `pullIncomplete` before the type, and those that refer to
  ///   it, have been pulled completely; `syncAlreadyInProgress` while a sync runs; the store's codes, and what was committed before stays.
  /// - Complexity: O(*m*) in the type's records, of which those with duplicates are read; memory by batch, by the greatest group, and
  ///   by the keys of some ten thousand groups.
  @discardableResult
  public func rebuildDuplicates(
    of type: RecordType, version: Int, options: RebuildOptions = RebuildOptions(), dryRun: Bool = false,
    token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> RebuildReport {
    guard let entity = schema[type], entity.naturalKey != nil else {
      throw SyncError(
        .invalidConfiguration, during: "collapsing duplicates of \(type)",
        schema[type] == nil ? "The record type is not declared." : "The record type has no natural key.")
    }
    try options.check()
    return try await RebuildRun(
      environment: environment, entity: entity, version: version, options: options, isDryRun: dryRun,
      stop: StopSignal(token: token)
    ).perform()
  }
}
