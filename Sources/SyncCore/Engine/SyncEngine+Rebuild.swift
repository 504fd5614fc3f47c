public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Collapses records that share a natural key to one, once for each rebuild version.
  ///
  /// The record that was written last wins. The time of its last write is that of its pending edit,
  /// otherwise of its stamp field, otherwise the remote's modification time. Of simultaneous
  /// writes, the record with the first id wins. A stamp that is later than the remote's
  /// modification time by more than ``EditOptions/maximumClockSkew`` is not trusted, and that time
  /// is used instead. The winner stays in place. References to the losers are re-pointed to it, and
  /// the losers are deleted. If the remote has them, this goes through the outbox, so that the
  /// remote receives exactly these deletions, after the edits. A record without a natural key has
  /// no duplicates.
  ///
  /// Groups are processed in batches of one transaction each. An interrupted rebuild resumes where
  /// it stopped. Once it is complete, the same and earlier versions do nothing. Duplicates that a
  /// sync brings, or that the app's own edits create, collapse in the same way at the end of the
  /// next sync.
  ///
  /// - Parameters:
  ///   - version: The number of the rebuild in the app's history, greater than those of earlier
  ///     rebuilds.
  ///   - dryRun: Whether to report what would be done, and do nothing. If records of the type refer
  ///     to each other, references among losers of different batches are counted too.
  ///   - token: Requests a stop, which takes effect between batches. Cancelling the task does the
  ///     same.
  /// - Throws: `invalidConfiguration` for a type that is not declared or has no natural key;
  ///   `pullIncomplete` before the type, and those that refer to it, have been pulled completely;
  ///   `syncAlreadyInProgress` while a sync runs; the store's codes. Earlier commits stay.
  /// - Complexity: O(*m*) in the type's records, of which those with duplicates are read. Memory
  ///   grows with the batch, with the greatest group, and with the keys of up to 262,144 groups.
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
