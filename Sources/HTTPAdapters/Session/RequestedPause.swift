import SyncModels
import SyncPorts

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
