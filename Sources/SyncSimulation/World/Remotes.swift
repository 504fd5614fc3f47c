import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

/// The remote of a world: one, until the app goes over to another.
final class Remotes: Sendable {
  /// A remote, and what processes read and write it by.
  struct Home: Sendable {
    let remote: InMemoryRemote
    let source: any RemoteRecordSource
    /// Where edits are pushed to; `nil` in a world without.
    let sink: (any RemoteRecordSink)?
  }
  private let state: Mutex<(home: Home, count: Int)>
  private let make: @Sendable (_ identity: String) -> Home

  init(_ make: @escaping @Sendable (_ identity: String) -> Home) {
    self.make = make
    state = Mutex((make("memory-remote"), 1))
  }

  var home: Home { state.withLock { $0.home } }
  var current: InMemoryRemote { home.remote }

  /// Whether the app has gone over to another remote.
  var wereExchanged: Bool { state.withLock { $0.count > 1 } }

  /// Has the app go over to another remote, which knows nothing yet; returns the one that it leaves.
  func exchange() -> InMemoryRemote {
    state.withLock { state in
      let old = state.home.remote
      state.count += 1
      state.home = make("memory-remote-\(state.count)")
      return old
    }
  }
}
