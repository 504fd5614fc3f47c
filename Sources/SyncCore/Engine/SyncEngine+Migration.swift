public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Migrates legacy settings to records, once.
  ///
  /// Records that the store lacks are inserted, through the outbox. Settings of existing records
  /// are merged into them. The settings are read once and stay unchanged. The migration's last
  /// transaction marks it as done in the store. An interrupted migration resumes where it stopped,
  /// and a completed one reads nothing. Settings that cannot become a record are reported and
  /// skipped, such as values that are not JSON or that refer to a record that is not in the store.
  ///
  /// - Parameter token: Requests a stop, which takes effect between transactions. Cancelling the
  ///   task does the same.
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
