import SyncModels
import SyncPorts
import Synchronization

/// The pauses and alerts that a server sends along with its answers.
///
/// Pauses are remembered for all requests. Alerts are passed on.
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

  /// The rest of the requested pause; `nil` when it is over.
  var remainingPause: Duration? {
    state.withLock { state in
      let rest = state.pause - state.elapsed()
      return rest > .zero ? rest : nil
    }
  }

  /// Records the notices of an answer.
  ///
  /// - Parameter isAboutEdits: Whether the sent edits may have caused a failure. Such a failure
  ///   requests no pause for other requests.
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
