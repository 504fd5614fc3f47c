public import SyncModels

/// Settings that an earlier version of an app kept without a database: several dictionaries whose keys name the same things.
///
/// One dictionary holds the names of devices by their hardware addresses, say, another their colours. They are read for a migration, and never written.
public protocol LegacySettings: Sendable {
  /// What a dictionary holds: JSON values by key; nothing, where there is no such dictionary.
  ///
  /// - Throws: `storeUnreadable` for one that is there and cannot be read; the migration stops, and may be tried again.
  func values(in dictionary: String) async throws(SyncError) -> [String: [UInt8]]
}
