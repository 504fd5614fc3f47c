import SyncModels
import Synchronization

/// An action between two others, set after both exist.
final class Between: Sendable {
  private let action = Mutex<(@Sendable (RecordID) -> Void)?>(nil)

  func set(_ action: @escaping @Sendable (RecordID) -> Void) { self.action.withLock { $0 = action } }

  func happen(to id: RecordID) { action.withLock { $0 }?(id) }
}
