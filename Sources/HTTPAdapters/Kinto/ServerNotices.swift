import SyncModels
import SyncPorts
import Synchronization

/// What a server says beside its answers: pauses, which are remembered for all requests, and alerts, which are passed on.
final class ServerNotices: Sendable {
  private struct State {
    var pause: Duration = .zero
    var elapsed: @Sendable () -> Duration = { .zero }
    var alert: String?
  }
  private let state = Mutex(State())
  private let clock: any SyncPorts.Clock<Duration>
  private let onAlert: @Sendable (String) -> Void

  init(clock: any SyncPorts.Clock<Duration>, onAlert: @escaping @Sendable (String) -> Void) {
    self.clock = clock
    self.onAlert = onAlert
  }

  /// What is left of the pause that was asked for; `nil` when it is over.
  var remainingPause: Duration? {
    state.withLock { state in
      let rest = state.pause - state.elapsed()
      return rest > .zero ? rest : nil
    }
  }

  /// Takes note of an answer.
  ///
  /// - Parameter isAboutEdits: Whether a failure may be one at what was sent: then it asks for no pause before anything else.
  func take(_ response: HTTPResponse, isAboutEdits: Bool) {
    let isRefusal = response.status == 429 || (response.status >= 500 && !isAboutEdits)
    let pause = max(
      RequestedPause.backoff(in: response) ?? .zero,
      isRefusal ? RequestedPause.retryAfter(in: response) ?? .zero : .zero)
    let alert = response.headers["Alert"]
    let elapsed = clock.stopwatch()
    let isNews = state.withLock { state in
      if pause > state.pause - state.elapsed() {
        state.pause = pause
        state.elapsed = elapsed
      }
      defer { state.alert = alert ?? state.alert }
      return alert != nil && alert != state.alert
    }
    if let alert, isNews { onAlert(alert) }
  }
}
