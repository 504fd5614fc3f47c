import SyncModels
import Synchronization

/// The types that go first in the running sync, which may change while it runs.
final class PriorityBoard: Sendable {
  private let state = Mutex<[RecordType]>([])

  /// The types to go first, the most urgent one first.
  var types: [RecordType] { state.withLock { $0 } }

  /// Starts over with the types of a request.
  func begin(_ types: [RecordType]) {
    state.withLock { $0 = types }
  }

  /// Puts types before those that are there.
  func raise(_ types: [RecordType]) {
    state.withLock { state in state = types + state.filter { !types.contains($0) } }
  }
}
