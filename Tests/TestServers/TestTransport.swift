package import HTTPAdapters
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
    #if Curl && os(Linux)
      var options = CurlTransport.Options()
      options.firstByteDeadline = .seconds(24 * 3600)
      return CurlTransport(options: options, clock: clock)
    #else
      return URLSessionTransport(clock: clock)
    #endif
  }
}
