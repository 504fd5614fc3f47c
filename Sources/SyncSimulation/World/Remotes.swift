import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

/// The remote of a world, and its successor after an exchange.
final class Remotes: Sendable {
  /// A remote, with its source and its sink.
  struct Home: Sendable {
    let remote: InMemoryRemote
    let source: any RemoteRecordSource
    /// The sink for edits; `nil` in a world without one.
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

  /// Whether the app has changed to another remote.
  var wereExchanged: Bool { state.withLock { $0.count > 1 } }

  /// Changes to another, empty remote, and returns the old one.
  func exchange() -> InMemoryRemote {
    state.withLock { state in
      let old = state.home.remote
      state.count += 1
      state.home = make("memory-remote-\(state.count)")
      return old
    }
  }
}
