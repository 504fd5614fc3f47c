import SyncModels
import SyncPorts

/// The pacing that outlives a process.
///
/// The store keeps it, so a restart neither forgets a pause nor restarts one.
struct PacingState: Hashable, Sendable, Codable {
  /// When a sync last began.
  var lastAttempt: Timestamp?
  /// When a sync was last completed.
  var lastSuccess: Timestamp?
  /// The number of failed syncs since the last success.
  var failures = 0
  /// When the pause after those failures ends.
  var retryAt: Timestamp?
  /// When the pause that the remote asked for ends.
  var pausedUntil: Timestamp?
  /// When those pauses were recorded, by the clock that gave their ends.
  var pausedAt: Timestamp?
  /// When background time or the network ended during a sync that is owed another attempt.
  ///
  /// `nil` once that attempt has begun.
  var interruptedAt: Timestamp?

  private static let key = ValueKey<PacingState>(.sync, "pacing")

  /// Loads the stored pacing, combined with the status of the single types.
  ///
  /// The types' status counts because an app may sync without a coordinator.
  static func load(_ types: [RecordType], from store: any LocalStore) async throws(SyncError) -> PacingState {
    try await store.read { (snapshot) throws(SyncError) in
      // A value of an unknown format is ignored: at worst there is one sync too many.
      var record = try snapshot.value(ifReadableOf: key) ?? PacingState()
      let statuses = try types.map { (type) throws(SyncError) in
        try TypeStatus.load(for: type, from: snapshot)
      }
      // An attempt at one type does not make the other types fresh.
      let attempt = earliest(statuses.map(\.lastAttempt))
      record.lastAttempt = [record.lastAttempt, attempt].compactMap(\.self).max()
      record.lastSuccess = record.lastSuccess ?? earliest(statuses.map(\.lastSuccess))
      return record
    }
  }

  /// The earliest of some times; `nil` if one is missing.
  private static func earliest(_ times: [Timestamp?]) -> Timestamp? {
    times.contains(nil) ? nil : times.compactMap(\.self).min()
  }

  /// Saves the pacing in the store.
  func save(in store: any LocalStore) async throws(SyncError) {
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.set(self, for: Self.key)
    }
  }
}

// The value is read from a store, which may be damaged, and the machine calculates with its number.
extension PacingState {
  private enum CodingKeys: String, CodingKey {
    case lastAttempt, lastSuccess, failures, retryAt, pausedUntil, pausedAt
    case interruptedAt = "expiredAt"
  }

  /// Reads the pacing.
  ///
  /// - Throws: `DecodingError` for an impossible number of failures.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      lastAttempt: try values.decodeIfPresent(Timestamp.self, forKey: .lastAttempt),
      lastSuccess: try values.decodeIfPresent(Timestamp.self, forKey: .lastSuccess),
      failures: try values.decodeCount(forKey: .failures),
      retryAt: try values.decodeIfPresent(Timestamp.self, forKey: .retryAt),
      pausedUntil: try values.decodeIfPresent(Timestamp.self, forKey: .pausedUntil),
      pausedAt: try values.decodeIfPresent(Timestamp.self, forKey: .pausedAt),
      interruptedAt: try values.decodeIfPresent(Timestamp.self, forKey: .interruptedAt))
  }
}
