import CanonicalSync
import Synchronization

/// Collects withheld records without a location.
///
/// They share their id with another record. The engine detects that after their lines have been
/// read.
final class RivalRecords: SyncObserver {
  /// The limit, equal to the number of records mentioned while the sync runs.
  private static let most = 10
  private let found = Mutex<[RecordID]>([])

  /// The records, each once, in the order of detection.
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
