import SyncModels
import SyncPorts

/// How long a server asks to be left alone.
enum RequestedPause {
  /// A day: what asks for more would keep edits and pages back long after it was mended.
  private static let longest: Int64 = 24 * 3600

  /// The pause in `Retry-After`, which is a number of seconds or a time.
  static func retryAfter(in response: HTTPResponse) -> Duration? {
    guard let text = response.headers["Retry-After"] else { return nil }
    if let pause = seconds(text) { return pause }
    // The server's own time, if it tells it, so that our clock need not be right.
    let now = response.headers["Date"].flatMap(HTTPDate.timestamp) ?? .wallClock
    return HTTPDate.timestamp(text).map { max(.zero, min($0.duration(since: now), .seconds(longest))) }
  }

  /// The pause in `Backoff`, a number of seconds.
  static func backoff(in response: HTTPResponse) -> Duration? {
    response.headers["Backoff"].flatMap(seconds)
  }

  private static func seconds(_ text: String) -> Duration? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return .seconds(min(Int64(text) ?? longest, longest))
  }
}
