#if Curl && os(Linux)
  public import HTTPAdapters
  public import SyncModels
  public import SyncPorts

  extension KintoSource {
    /// Prepares to read a bucket over a ``CurlTransport``; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - server: The address of the server's API, its version included.
    ///   - credentials: Who we are, told to the server's origin alone.
    ///   - clock: What deadlines and pauses are measured by; the engine's.
    ///   - onAlert: Called with what the server wants its operators to know, each time that it says something else.
    /// - Throws: As the initializer that takes a transport.
    public convenience init(
      server: String, bucket: String, credentials: HTTPCredentials? = nil, options: Options = Options(),
      clock: any SyncPorts.Clock<Duration> = ContinuousClock(),
      onAlert: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SyncError) {
      try self.init(
        server: server, bucket: bucket, credentials: credentials, options: options,
        transport: CurlTransport(clock: clock), clock: clock, onAlert: onAlert)
    }
  }
#endif
