import Synchronization

/// The time of an event, if it happened.
final class Moment: Sendable {
  private let state = Mutex<Duration?>(nil)

  var time: Duration? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
