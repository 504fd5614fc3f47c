#if Curl && os(Linux)
  public import HTTPAdapters
  public import SyncModels
  public import SyncPorts

  /// Carries requests by the system's libcurl: the transport on Linux.
  ///
  /// ```swift
  /// let transport = CurlTransport()
  /// ```
  ///
  /// One thread of the process moves the bytes of all transfers, and ends when no connection is
  /// left. Connections are kept for later requests, for a minute, and shared by all transports with
  /// the same options. HTTP/2 is used if a server offers it over TLS.
  ///
  /// Certificates are verified, no redirect is followed, no proxy is taken from the environment,
  /// and no other state of the process is used. libcurl repeats a request by itself when a kept
  /// connection ends without an answer. A request that is not `HTTPRequest.mayBeRepeated` therefore
  /// gets a connection of its own.
  ///
  /// A body that a request's `Accept-Encoding` asked for is decompressed. Its limit counts the
  /// decompressed bytes.
  public struct CurlTransport: HTTPTransport {
    /// Whether a compressed body is unpacked within the limit: it is, by libcurl, piece by piece.
    public var boundsCompressedBodies: Bool { true }

    private let options: Options
    private let clock: any SyncPorts.Clock<Duration>
    private let driver: CurlDriver

    /// Settings of the transport.
    public struct Options: Hashable, Sendable {
      /// The longest time to connect, TLS included, by the machine's own clock.
      public var connectDeadline: Duration = .seconds(10)
      /// The longest time until an answer begins, counted from the call.
      public var firstByteDeadline: Duration = .seconds(30)
      /// The most bytes of an answer's headers.
      public var headerLimit = 64 << 10
      /// The proxy to send all requests to; `nil` for none, whatever the environment says.
      public var proxy: HTTPAddress?
      /// The path of a PEM file with trusted certificate authorities; `nil` for the system's.
      public var certificateAuthorities: String?

      /// Creates the default options.
      public init() {}
    }

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - options: Limits, and the trusted certificate authorities.
    ///   - clock: Measures all deadlines but that of connecting.
    public init(
      options: Options = Options(), clock: any SyncPorts.Clock<Duration> = ContinuousClock()
    ) {
      self.init(options: options, clock: clock, driver: .shared)
    }

    init(options: Options, clock: any SyncPorts.Clock<Duration>, driver: CurlDriver) {
      self.options = options
      self.clock = clock
      self.driver = driver
    }

    /// Sends a request, and returns the answer whatever its status; see `HTTPTransport`.
    public func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      guard request.isSendable else {
        throw SyncError(
          .invalidConfiguration, during: HTTPFailure.asking(request),
          "The method or a header contains an invalid character.")
      }
      let transfer = Transfer(request, by: CurlCarrier(options: options, driver: driver))
      return try await transfer.answer(by: clock, firstByteWithin: options.firstByteDeadline)
    }
  }

  /// The driver, with the options for a transfer.
  private struct CurlCarrier: TransferCarrier {
    let options: CurlTransport.Options
    let driver: CurlDriver

    func begin(_ transfer: Transfer) { driver.begin(transfer, options) }
    func giveUp(_ transfer: Transfer) { driver.giveUp(transfer) }
  }

  extension HTTPRequest {
    /// Whether method and headers are safe to send. A line break would begin another header.
    fileprivate var isSendable: Bool {
      !method.isEmpty && method.utf8.allSatisfy(Self.isNameByte)
        && headers.fields.allSatisfy { name, value in
          !name.isEmpty && name.utf8.allSatisfy(Self.isNameByte)
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }
  }
#endif
