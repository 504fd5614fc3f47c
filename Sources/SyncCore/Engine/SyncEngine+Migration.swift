public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Makes records of legacy settings, once: those that the store does not have are added, through the outbox, and those that it has are merged with.
  ///
  /// The settings are read once and stay as they are. The migration is marked done in the store, with its last transaction; one that was interrupted goes
  /// on where it stopped, and one that is done reads nothing. Settings that make no record, such as values that are no JSON or that refer to
  /// a record that is not here, are reported and passed over.
  ///
  /// - Parameter token: Somebody's wish to stop, honoured between transactions; cancelling the task does the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared; what the settings throw; the store's codes. What was
  ///   committed before stays.
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
