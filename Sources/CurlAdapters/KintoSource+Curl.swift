#if Curl && os(Linux)
  public import HTTPAdapters
  public import SyncModels
  public import SyncPorts

  extension KintoSource {
    /// Creates a source for a bucket over a ``CurlTransport``. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - server: The address of the server's API, its version included.
    ///   - bucket: The name of the bucket.
    ///   - credentials: Our credentials, sent to the server's origin alone.
    ///   - options: Limits and deadlines.
    ///   - clock: Measures deadlines and pauses; the engine's clock.
    ///   - onAlert: Called with each new message of the server to its operators.
    /// - Throws: The errors of the initializer that takes a transport.
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
