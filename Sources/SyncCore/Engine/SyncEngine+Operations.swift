public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Streams the records that change for readers from now on, for one consumer.
  ///
  /// An app uses it to refresh what it shows. Each element holds the changes of one transaction,
  /// after its commit. A consumer that is too slow for each of them receives
  /// ``SyncEvent/ChangedRecords/many``, and should reload everything.
  ///
  /// If the store is a ``SharedStore``, changes of other connections and processes come as well,
  /// within 250 ms, counted from the first request for an element. An element with them may repeat
  /// changes of this engine.
  ///
  /// To miss nothing, call this first, then load, then iterate.
  /// ``LocalRecords/observe(_:where:order:limit:)`` does all of this for one query.
  public func changes() -> some AsyncSequence<SyncEvent.ChangedRecords, Never> & Sendable {
    ChangeSequence(
      watch: CommitWatch(
        store: environment.store, clock: environment.clock, events: events().subscription))
  }
}

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
  /// - Parameters:
  ///   - policy: What is hidden, and what is removed.
  ///   - token: Requests a stop, which takes effect between transactions. Cancelling the task does
  ///     the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared; `syncAlreadyInProgress`
  ///   while a sync runs; the store's codes. Earlier commits stay.
  /// - Complexity: O(*h*) in the hidden records, and in all sightings and expiring values; O(*m*)
  ///   in the type's records for an age by modification, otherwise as the rule's query. For a
  ///   member that ends by itself, every payload of its type is parsed.
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

extension SyncEngine {
  /// Migrates legacy settings to records, once.
  ///
  /// Records that the store lacks are inserted, through the outbox. Settings of existing records
  /// are merged into them. The settings are read once and stay unchanged. The migration's last
  /// transaction marks it as done in the store. An interrupted migration resumes where it stopped,
  /// and a completed one reads nothing. Settings that cannot become a record are reported and
  /// skipped, such as values that are not JSON or that refer to a record that is not in the store.
  ///
  /// - Parameters:
  ///   - settings: The settings of the earlier version.
  ///   - migration: How they become records.
  ///   - token: Requests a stop, which takes effect between transactions. Cancelling the task does
  ///     the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared; what the settings throw; the
  ///   store's codes. Earlier commits stay.
  /// - Complexity: O(*n*) in the settings, which are held in memory.
  @discardableResult
  public func migrate(
    _ settings: any LegacySettings, by migration: LegacyMigration, token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> MigrationReport {
    guard let entity = schema[migration.type], migration.recordsAtOnce > 0 else {
      throw SyncError(
        .invalidConfiguration, during: "migrating \(migration.name)",
        schema[migration.type] == nil
          ? "The record type \(migration.type) is not declared." : "A transaction takes up 1 record or more.")
    }
    return try await MigrationRun(
      edits: edits, store: environment.store, settings: settings, migration: migration, entity: entity,
      stop: StopSignal(token: token)
    ).perform()
  }
}

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
  ///   - type: The type.
  ///   - version: The number of the rebuild in the app's history, greater than those of earlier
  ///     rebuilds.
  ///   - options: The size of the batches, and how a winner takes values over.
  ///   - dryRun: Whether to report what would be done, and do nothing. If records of the type refer
  ///     to each other, references among losers of different batches are counted too.
  ///   - token: Requests a stop, which takes effect between batches. Cancelling the task does the
  ///     same.
  /// - Throws: `invalidConfiguration` for a type that is not declared or has no natural key, or
  ///   where another version of the app has registered another natural key for the store since;
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
