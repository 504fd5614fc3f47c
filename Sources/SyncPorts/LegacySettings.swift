public import SyncModels

/// Settings that an earlier version of an app kept in dictionaries, without a database.
///
/// The keys of several dictionaries name the same things. For example, one dictionary holds the
/// names of devices by their hardware addresses, another their colours. A migration reads them, and
/// never writes them.
public protocol LegacySettings: Sendable {
  /// Returns a dictionary's JSON values by key; empty if there is no such dictionary.
  ///
  /// - Throws: `storeUnreadable` for one that exists and cannot be read. The migration stops, and
  ///   may be retried.
  func values(in dictionary: String) async throws(SyncError) -> [String: [UInt8]]
}
