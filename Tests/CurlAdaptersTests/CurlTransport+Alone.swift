#if Curl && os(Linux)
  @testable import CurlAdapters
  import SyncPorts

  extension CurlTransport {
    /// A transport with a thread of its own.
    ///
    /// Other tests would compete for the connections that the process keeps, or have left some to a
    /// port that another server has by now.
    static func alone(
      _ options: Options = Options(), clock: any SyncPorts.Clock<Duration> = ContinuousClock()
    ) -> CurlTransport {
      CurlTransport(options: options, clock: clock, driver: CurlDriver(idleTime: .seconds(60)))
    }
  }
#endif
