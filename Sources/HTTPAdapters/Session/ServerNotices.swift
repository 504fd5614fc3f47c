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
    let isFailure = response.status >= 500 && !isAboutEdits
    let asked = isFailure ? RequestedPause.retryAfter(in: response) : RequestedPause.limit(in: response)
    let pause = max(RequestedPause.backoff(in: response) ?? .zero, asked ?? .zero)
    self.pause(for: pause)
    if let alert = response.headers["Alert"] { tell(alert) }
    // Words may be about something else.
    if let asked, response.status == 403 {
      tell(
        "The server answered 403, which is taken for a limit of requests\(HTTPFailure.words(of: response)). Nothing is sent for \(asked.components.seconds) s."
      )
    }
  }

  /// Passes a message on, unless it was the last one.
  package func tell(_ alert: String) {
    let isNews = state.withLock { state in
      defer { state.alert = alert }
      return alert != state.alert
    }
    if isNews { onAlert(alert) }
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

  /// The pause of an answer that limits the rate of requests; `nil` for any other answer.
  ///
  /// That is a 429, and a 403 that names a pause, says that no request is left, or tells of a limit in
  /// words, as GitHub's and Google's do.
  package static func limit(in response: HTTPResponse) -> Duration? {
    guard response.status == 429 || response.status == 403 else { return nil }
    if let pause = retryAfter(in: response) { return pause }
    for prefix in ["X-RateLimit", "RateLimit"] {
      guard response.headers["\(prefix)-Remaining"].flatMap({ Int($0) }) == 0,
        let text = response.headers["\(prefix)-Reset"]
      else { continue }
      // A count of seconds is a pause, and anything later the time when it is over.
      if let pause = seconds(text), pause < .seconds(longest) { return pause }
      guard let end = Timestamp(iso8601: text) ?? Int64(text).map(time) else { continue }
      let now = response.headers["Date"].flatMap(HTTPDate.timestamp) ?? .wallClock
      // The server's time is of whole seconds.
      return max(.seconds(1), min(end.duration(since: now), .seconds(longest)))
    }
    return response.status == 403 && saysLimit(response.body) ? .seconds(60) : nil
  }

  private static func saysLimit(_ body: [UInt8]) -> Bool {
    let words = String(decoding: body.prefix(2000), as: UTF8.self).lowercased()
    return words.contains("rate limit") || words.contains("too many requests")
  }

  /// The time that a number means: seconds, or thousandths of a second from 10¹¹ on.
  private static func time(_ number: Int64) -> Timestamp {
    Timestamp(milliseconds: (0..<100_000_000_000).contains(number) ? number * 1000 : max(0, number))
  }

  /// The pause in `Backoff`, as a number of seconds.
  package static func backoff(in response: HTTPResponse) -> Duration? {
    response.headers["Backoff"].flatMap(seconds)
  }

  private static func seconds(_ text: String) -> Duration? {
    // RFC 9110 has whole seconds, and some servers write a fraction.
    guard text.wholeMatch(of: #/\d+(\.\d+)?/#) != nil, let number = Double(text) else { return nil }
    return .milliseconds((min(number, Double(longest)) * 1000).rounded(.up))
  }
}
