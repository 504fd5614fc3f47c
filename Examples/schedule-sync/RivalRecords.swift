import CanonicalSync
import Synchronization

/// Takes note of records that were set aside with nothing to tell their place by: ones that share their id with another one, which the
/// engine finds when it has left their lines behind.
final class RivalRecords: SyncObserver {
  /// As many as are mentioned while the sync runs.
  private static let most = 10
  private let found = Mutex<[RecordID]>([])

  /// The records, each once, in the order in which they were met.
  var ids: [RecordID] { found.withLock { $0 } }

  func receive(_ event: SyncEvent) {
    guard case .quarantined(let malformed) = event, malformed.location == nil, let id = malformed.id else {
      return
    }
    found.withLock { found in
      if found.count < Self.most, !found.contains(id) { found.append(id) }
    }
  }
}
