import CanonicalSync
import InMemoryAdapters
import Synchronization

/// Frees storage at the remote by archiving the oldest readings, if the owner agrees.
final class Archive: Sendable {
  private let remote: InMemoryRemote
  private let state = Mutex((isAllowed: false, archived: 0))
  private static let portion = 10

  init(_ remote: InMemoryRemote) {
    self.remote = remote
  }

  /// Whether the owner agrees.
  var isAllowed: Bool {
    get { state.withLock { $0.isAllowed } }
    set { state.withLock { $0.isAllowed = newValue } }
  }

  /// The number of archived readings.
  var archived: Int { state.withLock { $0.archived } }

  /// Archives some readings; returns whether that freed storage.
  func onStorageFull() -> Bool {
    guard isAllowed else { return false }
    let readings = remote.records(of: "readings").prefix(Self.portion)
    for reading in readings { remote.delete("readings", reading.key) }
    state.withLock { $0.archived += readings.count }
    return !readings.isEmpty
  }
}
