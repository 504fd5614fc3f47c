import Foundation
package import HTTPAdapters
import SyncModels
package import SyncPorts

#if Curl
  import CurlAdapters
#endif

/// The transport for tests on this platform.
package enum TestTransport {
  /// Creates a transport whose first-byte deadline equals that of the whole answer.
  package static func make(
    clock: any SyncPorts.Clock<Duration> = ContinuousClock()
  ) -> any HTTPTransport {
    #if canImport(Darwin)
      return URLSessionTransport(clock: clock)
    #elseif Curl && os(Linux)
      var options = CurlTransport.Options()
      options.firstByteDeadline = .seconds(24 * 3600)
      return CurlTransport(options: options, clock: clock)
    #else
      return NoTransport()
    #endif
  }

  /// Whether there is a transport: Linux has none without the trait Curl.
  package static var isPresent: Bool { !(make() is NoTransport) }

  /// The address of a server that `Tests/run` started; `nil` also if nothing can reach it.
  package static func server(_ variable: String) -> String? {
    isPresent ? ProcessInfo.processInfo.environment[variable] : nil
  }

  /// Stands in the place of a transport.
  private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      throw SyncError(
        .invalidConfiguration, during: "testing", "These tests were built without the trait Curl.")
    }
  }
}
