import SyncModels
package import SyncPorts
import Synchronization

/// The pauses and alerts that a server sends along with its answers.
///
/// Pauses are remembered for all requests. Alerts are passed on.
package final class ServerNotices: Sendable {
  private struct State {
    var pause: Duration = .zero
    var elapsed: @Sendable () -> Duration = { .zero }
    var alert: String?
  }
  private let state = Mutex(State())
  private let clock: any SyncPorts.Clock<Duration>
  private let onAlert: @Sendable (String) -> Void

  package init(clock: any SyncPorts.Clock<Duration>, onAlert: @escaping @Sendable (String) -> Void) {
    self.clock = clock
    self.onAlert = onAlert
  }

  /// The rest of the requested pause; `nil` when it is over.
  package var remainingPause: Duration? {
    state.withLock { state in
      let rest = state.pause - state.elapsed()
      return rest > .zero ? rest : nil
    }
  }

  /// Records the notices of an answer.
  ///
  /// - Parameter isAboutEdits: Whether the sent edits may have caused a failure. Such a failure
  ///   requests no pause for other requests.
  package func take(_ response: HTTPResponse, isAboutEdits: Bool) {
    let isRefusal = response.status == 429 || (response.status >= 500 && !isAboutEdits)
    let pause = max(
      RequestedPause.backoff(in: response) ?? .zero,
      isRefusal ? RequestedPause.retryAfter(in: response) ?? .zero : .zero)
    let alert = response.headers["Alert"]
    self.pause(for: pause)
    let isNews = state.withLock { state in
      defer { state.alert = alert ?? state.alert }
      return alert != nil && alert != state.alert
    }
    if let alert, isNews { onAlert(alert) }
  }

  /// Delays all requests, unless a longer pause is not over.
  package func pause(for pause: Duration) {
    let elapsed = clock.stopwatch()
    state.withLock { state in
      guard pause > state.pause - state.elapsed() else { return }
      state.pause = pause
      state.elapsed = elapsed
    }
  }
}
