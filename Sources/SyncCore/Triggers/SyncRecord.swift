import SyncModels
import SyncPorts

/// What of pacing outlives a process: it is kept in the store, so a restart neither forgets a pause nor begins one anew.
struct SyncRecord: Hashable, Sendable, Codable {
  /// When a sync was last begun.
  var lastAttempt: Timestamp?
  /// When a sync was last completed.
  var lastSuccess: Timestamp?
  /// How many syncs failed since.
  var failures = 0
  /// When the pause after those ends.
  var retryAt: Timestamp?
  /// Until when the remote asked to be left alone.
  var pausedUntil: Timestamp?

  private static let key = "sync/pacing"

  /// Reads what is remembered; what single types remember counts as well, since an app may sync without a coordinator.
  static func load(_ types: [RecordType], from store: any LocalStore) async throws(SyncError) -> SyncRecord {
    try await store.read { (snapshot) throws(SyncError) in
      var record = SyncRecord()
      if let bytes = try snapshot.value(forKey: key) {
        // What another version wrote otherwise is not worth failing for: at worst there is a sync too many.
        record = (try? PayloadDecoder().decode(SyncRecord.self, from: bytes[...])) ?? record
      }
      var successes: [Timestamp?] = []
      for type in types {
        let status = try TypeStatus.load(for: type, from: snapshot)
        record.lastAttempt = [record.lastAttempt, status.lastAttempt].compactMap(\.self).max()
        successes.append(status.lastSuccess)
      }
      // The least of them: by then all types had been synced.
      if record.lastSuccess == nil, !successes.contains(nil) {
        record.lastSuccess = successes.compactMap(\.self).min()
      }
      return record
    }
  }

  /// Writes it down.
  func save(in store: any LocalStore) async throws(SyncError) {
    let bytes: [UInt8]
    do {
      bytes = try PayloadEncoder().encode(self)
    } catch {
      throw SyncError(.storeFailure, during: "saving when the last sync was", underlying: error)
    }
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.setValue(bytes, forKey: Self.key)
    }
  }
}
