import SyncModels
import Synchronization

/// What one stream of events has sent: the last timestamp of each type.
final class SentEvents: Sendable {
  private let start: Int64
  private let sent = Mutex<[RecordType: Int64]>([:])

  init(_ start: Int64) { self.start = start }

  /// Whether a type's timestamp was not sent yet; from now on it counts as sent.
  func isNews(_ type: RecordType, _ last: Int64) -> Bool {
    sent.withLock { sent in
      guard last > sent[type] ?? start else { return false }
      sent[type] = last
      return true
    }
  }
}
