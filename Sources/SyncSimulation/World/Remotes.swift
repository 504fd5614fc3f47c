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
    /// The account whose records the remote shows.
    var account = "first person"
  }
  private struct State {
    var home: Home
    var count = 1
    var accounts = 1
  }
  private let state: Mutex<State>
  private let make: @Sendable (_ identity: String) -> Home

  init(_ make: @escaping @Sendable (_ identity: String) -> Home) {
    self.make = make
    state = Mutex(State(home: make("memory-remote")))
  }

  var home: Home { state.withLock { $0.home } }
  var current: InMemoryRemote { home.remote }

  /// Whether the app has changed to another remote, or to another account of it.
  var wereExchanged: Bool { state.withLock { $0.count > 1 || $0.accounts > 1 } }

  /// Changes to another account's records, of which there are none yet, at the same remote.
  func exchangeAccount() {
    state.withLock { state in
      state.accounts += 1
      state.home = make(state.home.remote.identity)
      state.home.account = "person \(state.accounts)"
    }
  }

  /// Changes to another, empty remote, and returns the old one.
  func exchange() -> InMemoryRemote {
    state.withLock { state in
      let old = state.home.remote
      state.count += 1
      let account = state.home.account
      state.home = make("memory-remote-\(state.count)")
      state.home.account = account
      return old
    }
  }
}
