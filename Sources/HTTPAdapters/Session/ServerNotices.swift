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

/// The pause that a server requests.
package enum RequestedPause {
  /// A day. A longer pause would delay edits and pages long after a repair.
  private static let longest: Int64 = 24 * 3600

  /// The pause in `Retry-After`, as a number of seconds or a time.
  package static func retryAfter(in response: HTTPResponse) -> Duration? {
    guard let text = response.headers["Retry-After"] else { return nil }
    if let pause = seconds(text) { return pause }
    // The server's own time, if the answer has it, so our clock need not be right.
    let now = response.headers["Date"].flatMap(HTTPDate.timestamp) ?? .wallClock
    return HTTPDate.timestamp(text).map { max(.zero, min($0.duration(since: now), .seconds(longest))) }
  }

  /// The pause in `Backoff`, as a number of seconds.
  package static func backoff(in response: HTTPResponse) -> Duration? {
    response.headers["Backoff"].flatMap(seconds)
  }

  private static func seconds(_ text: String) -> Duration? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return .seconds(min(Int64(text) ?? longest, longest))
  }
}
