package import SyncModels
package import SyncPorts

/// Requests to one origin: with its credentials, within bounds, and never during a requested pause.
///
/// All adapters of one server share a session. Retries are the engine's.
package struct HTTPSession: Sendable {
  /// The address that the paths of requests begin with.
  package let base: HTTPAddress
  /// Measures deadlines and pauses; the engine's clock.
  package let clock: any SyncPorts.Clock<Duration>
  /// The pauses that the server requested, and its messages to operators.
  package let notices: ServerNotices
  /// The number of records that fit into an answer.
  package let pageSizes = PageSizes()

  private let authorization: (any HTTPAuthorization)?
  private let transport: any HTTPTransport
  private let options: Options

  private let budget: RequestBudget?
  /// The words of the app in the name by which requests say who asks.
  private let userAgent: String?

  /// The name by which requests say who asks. Some servers refuse requests without one.
  package static let userAgent = "CanonicalSync/\(LibraryVersion.current)"

  /// The number of redirects within the origin that are followed.
  package static let redirectLimit = 3

  /// The bounds of each request.
  package struct Options: Hashable, Sendable {
    /// The longest time for a request.
    package var deadline: Duration = .seconds(60)
    /// The most bytes of an answer's body.
    package var bodyLimit = 64 << 20
    /// Whether `http` is allowed.
    package var plainHTTP = PlainHTTP.refused
    /// The app's own words in each `User-Agent`, before ours.
    package var userAgent: String?
    /// The budget of requests; `nil` for any number.
    package var pace: RESTAPI.Pace?

    /// Creates the default options.
    package init() {}
  }

  /// Where requests without encryption may go.
  package enum PlainHTTP: Hashable, Sendable {
    /// Nowhere.
    case refused
    /// To this machine.
    case onLoopback
    /// Anywhere. Every host on the way can read and change everything.
    case everywhere
  }

  /// Creates a session. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - base: The address of the server's API. A slash at its end is dropped.
  ///   - example: A valid address, for the error.
  ///   - operation: The operation, for errors.
  /// - Throws: `invalidConfiguration` for an invalid or unencrypted address, and for credentials
  ///   that no header can hold.
  package init(
    _ base: String, like example: String, authorization: (any HTTPAuthorization)?, options: Options,
    transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>,
    onAlert: @escaping @Sendable (String) -> Void = { _ in }, during operation: String
  ) throws(SyncError) {
    func refuse(_ message: String) -> SyncError {
      SyncError(.invalidConfiguration, during: operation, message)
    }
    let trimmed = base.hasSuffix("/") ? String(base.dropLast()) : base
    guard let address = HTTPAddress(trimmed), address.query == nil else {
      // What comes before an "@" may be a password.
      let quoted = base.contains("@") ? "" : " \"\(base.prefix(200))\""
      throw refuse("The server's address\(quoted) is invalid. A valid one looks like \(example).")
    }
    let isAllowed =
      switch options.plainHTTP {
      case .refused: address.origin.isSecure
      case .onLoopback: address.origin.isSecure || address.origin.isLoopback
      case .everywhere: true
      }
    guard isAllowed else {
      throw refuse("\(address.origin) is not encrypted; use https, or allow plain HTTP.")
    }
    guard authorization?.isSendable != false else {
      throw refuse("The credentials contain a character that a header cannot hold.")
    }
    guard options.userAgent?.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) != false else {
      throw refuse("The name for User-Agent contains a character that a header cannot hold.")
    }
    self.base = address
    if let client = (authorization as? HTTPCredentials)?.client {
      self.authorization = try OAuth2Authorization(
        client, options: options, transport: transport, clock: clock)
    } else {
      self.authorization = authorization
    }
    userAgent = options.userAgent
    budget = options.pace.map { RequestBudget($0, by: clock) }
    self.transport = transport
    self.options = options
    self.clock = clock
    notices = ServerNotices(clock: clock, onAlert: onAlert)
  }

  /// The path of the base, without a slash at its end.
  package var rootPath: String { base.path == "/" ? "" : base.path }

  /// Sends a request, unless the server wants a pause, and follows redirects.
  ///
  /// To a request that does not read, a 303 is an answer: what it leads to is only to be read, and
  /// tells nothing about the request (RFC 9110, 15.4.4). To a write, 301, 302 and 308 are answers too:
  /// the other address may be that of another record.
  ///
  /// - Parameters:
  ///   - repeatsSafely: See ``HTTPRequest/repeatsSafely``.
  ///   - mayBeCompressed: Whether gzip is asked for. A server may weaken the tag of a compressed
  ///     answer, so preconditions need answers without it.
  ///   - isAboutEdits: Whether the sent edits may have caused a failure. Such a failure requests no
  ///     pause for other requests.
  /// - Returns: The answer, whatever its status.
  /// - Throws: `remoteUnavailable` during a pause, with the rest of it; the transport's errors,
  ///   with `operation` as their operation; `invalidResponse` for a redirect elsewhere and for a
  ///   compressed body of a 2xx, which was not requested; the errors of the authorization.
  package func send(
    _ method: String, _ address: HTTPAddress, headers: HTTPHeaders = [:], body: [UInt8] = [],
    repeatsSafely: Bool = false, isAboutEdits: Bool = false, mayBeCompressed: Bool = false,
    during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    if let pause = notices.remainingPause {
      throw SyncError(
        .remoteUnavailable, during: operation, "The server asked for a pause, which is not over.",
        retryAfter: pause)
    }
    var request = HTTPRequest(
      method, address, headers: headers, body: body, deadline: options.deadline,
      bodyLimit: max(0, options.bodyLimit))
    request.repeatsSafely = repeatsSafely
    if request.headers["Accept"] == nil { request.headers["Accept"] = "application/json" }
    let words = request.headers["User-Agent"] ?? userAgent ?? ""
    request.headers["User-Agent"] = words.isEmpty ? Self.userAgent : "\(words) \(Self.userAgent)"
    // A small compressed answer could have any size, so the transport has to count the bytes as they
    // are unpacked.
    request.headers["Accept-Encoding"] =
      mayBeCompressed && transport.boundsCompressedBodies ? "gzip" : "identity"
    let response = try await following(request, during: operation)
    notices.take(response, isAboutEdits: isAboutEdits)
    return response
  }

  private func following(
    _ first: HTTPRequest, during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    var (request, isRedirected) = (first, false)
    for _ in 0...Self.redirectLimit {
      guard request.address.origin == base.origin else {
        throw SyncError(
          .invalidResponse, during: operation,
          "The server redirects to \(request.address.origin), which is another origin; nothing was sent there."
        )
      }
      var response = try await response(to: request, during: operation)
      (response.isRedirected, response.address) = (isRedirected, request.address)
      let isRead = request.method == "GET" || request.method == "HEAD"
      let mayRepeat = isRead || request.repeatsSafely
      switch response.status {
      case 307: break
      case 301 where mayRepeat, 302 where mayRepeat, 308 where mayRepeat: break
      case 303 where isRead: break
      default: return response
      }
      guard let next = response.headers["Location"].flatMap(request.address.resolving) else {
        throw SyncError(
          .invalidResponse, during: operation, "The server redirects to an invalid address.")
      }
      request.address = next
      isRedirected = true
    }
    throw SyncError(.invalidResponse, during: operation, "The server redirects too many times.")
  }

  private func sent(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    try await budget?.turn()
    return try await transport.send(request)
  }

  /// Whether the credentials may be others by themselves after a refusal.
  package var mayRenewCredentials: Bool { authorization?.mayChange ?? false }

  /// What tells these credentials from others; see ``HTTPAuthorization/fingerprints()``.
  package func fingerprints() async throws(SyncError) -> [String] {
    try await authorization?.fingerprints() ?? []
  }

  private func response(
    to request: HTTPRequest, during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    var response: HTTPResponse
    do {
      var signed = request
      try await authorization?.authorize(&signed)
      response = try await sent(signed)
      // Nothing was done by the refused request, so it may be sent again, whatever it is.
      if response.status == 401, let authorization, try await authorization.renew(after: signed) {
        signed = request
        try await authorization.authorize(&signed)
        response = try await sent(signed)
      }
    } catch {
      var failure = error
      failure.operation = operation
      throw failure
    }
    authorization?.receive(response)
    let encoding = response.headers["Content-Encoding"]?.lowercased() ?? "identity"
    if encoding != "identity", !response.body.isEmpty {
      guard !(200...299).contains(response.status) else {
        throw HTTPFailure.compressed(request, during: operation)
      }
      // The body of an error is only informative.
      response.body = []
    }
    // An app's own transport may not enforce the limit.
    guard response.body.count <= request.bodyLimit else {
      throw HTTPFailure.tooLong(request, during: operation)
    }
    // RFC 8259, 8.1: a byte order mark before JSON may be ignored.
    if response.body.starts(with: [0xEF, 0xBB, 0xBF]) { response.body.removeFirst(3) }
    return response
  }
}
