import SyncModels
import SyncPorts

extension RecordPage {
  /// The page with this device's time as the version of each change.
  func restamped(_ now: Timestamp) -> RecordPage {
    var page = self
    let version = Version(sequence: now.microseconds, modifiedAt: now)
    page.changes = changes.map { change in
      switch change {
      case .upsert(var record):
        record.version = version
        return .upsert(record)
      case .tombstone(var tombstone):
        tombstone.version = version
        return .tombstone(tombstone)
      case .malformed: return change
      }
    }
    return page
  }
}
