import SyncJSON
import SyncModels
import SyncPorts

/// What of pacing outlives a process: it is kept in the store, so a restart neither forgets a pause nor begins one anew.
struct PacingState: Hashable, Sendable, Codable {
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
  /// When those pauses were noted, by the clock that their ends were read from.
  var pausedAt: Timestamp?
  /// When the end of time in the background cut a sync short that is owed another attempt; `nil` once that has begun.
  var expiredAt: Timestamp?

  private static let key = "sync/pacing"

  /// Reads what is remembered; what single types remember counts as well, since an app may sync without a coordinator.
  static func load(_ types: [RecordType], from store: any LocalStore) async throws(SyncError) -> PacingState {
    try await store.read { (snapshot) throws(SyncError) in
      var record = PacingState()
      if let bytes = try snapshot.value(forKey: key) {
        // What another version wrote otherwise is not worth failing for: at worst there is a sync too many.
        record = (try? JSONByteDecoder().decode(PacingState.self, from: bytes[...])) ?? record
      }
      let statuses = try types.map { (type) throws(SyncError) in
        try TypeStatus.load(for: type, from: snapshot)
      }
      // An attempt at one type alone says nothing of how fresh the others are.
      let attempt = earliest(statuses.map(\.lastAttempt))
      record.lastAttempt = [record.lastAttempt, attempt].compactMap(\.self).max()
      record.lastSuccess = record.lastSuccess ?? earliest(statuses.map(\.lastSuccess))
      return record
    }
  }

  /// By when all types had had something; `nil` while one has not.
  private static func earliest(_ times: [Timestamp?]) -> Timestamp? {
    times.contains(nil) ? nil : times.compactMap(\.self).min()
  }

  /// Writes it down.
  func save(in store: any LocalStore) async throws(SyncError) {
    let bytes: [UInt8]
    do {
      bytes = try JSONByteEncoder().encode(self)
    } catch {
      throw SyncError(.storeFailure, during: "saving when the last sync was", underlying: error)
    }
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.setValue(bytes, forKey: Self.key)
    }
  }
}
