package import HTTPAdapters
package import SyncPorts

#if Curl
  import CurlAdapters
#endif

/// The transport of this platform, or what there is in its place.
package enum TestTransport {
  /// A transport that waits for an answer's first byte as long as for all of it.
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
