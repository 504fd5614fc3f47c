import SyncModels
import SyncPorts

/// The progress of a migration, saved in the migration's own transactions.
struct MigrationProgress: Hashable, Sendable, Codable {
  /// The legacy key up to which settings are done, in the order of UTF-8 bytes.
  var after: String?
  var isDone = false
  var counts = MigrationReport.Counts()

  static func load(_ name: String, from snapshot: any StoreSnapshot) throws(SyncError) -> MigrationProgress {
    try snapshot.decoded(MigrationProgress.self, forKey: key(name)) ?? MigrationProgress()
  }

  func save(_ name: String, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.encode(self, forKey: Self.key(name))
  }

  private static func key(_ name: String) -> String { "migration/\(name)" }
}
