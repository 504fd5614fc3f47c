import Foundation
import SyncJSON
import SyncModels
import SyncPorts
import Synchronization

/// A client of an OAuth 2 server, which fetches access tokens (RFC 6749).
///
/// Without a ``refreshToken`` the client asks for itself (section 4.4), and with one for the user who
/// has granted it (section 6). A token is fetched before its predecessor ends, and once after a 401.
/// All types share it.
public struct OAuth2Client: Hashable, Sendable {
  /// The address of the token endpoint: `https`, or `http` on this machine.
  public var tokenURL: String
  /// The name of the client.
  public var clientID: HTTPSecret
  /// The client's secret; `nil` for a client without one.
  public var clientSecret: HTTPSecret?
  /// The token of the user's grant; `nil` for a client that asks for itself.
  ///
  /// A successor that the server gives is written to the file of ``HTTPSecret/file(_:)``, whole and
  /// readable by its owner alone, before any request with the new access token. Other places keep the
  /// successor until the process ends.
  public var refreshToken: HTTPSecret?
  /// The wanted rights, separated by spaces; `nil` for the server's choice.
  public var scope: String?

  /// Creates a client that asks for itself.
  public init(
    tokenURL: String, clientID: HTTPSecret, clientSecret: HTTPSecret? = nil, refreshToken: HTTPSecret? = nil,
    scope: String? = nil
  ) {
    self.tokenURL = tokenURL
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.refreshToken = refreshToken
    self.scope = scope
  }
}

/// Fetches the access tokens of a client, one at a time, and adds them to requests.
final class OAuth2Authorization: HTTPAuthorization {
  private struct State {
    var access: Access?
    /// The successor of the refresh token, while it could not be kept in its file.
    var unkept: String?
    /// Whether the server takes the client's secret in the form alone.
    var isInForm = false
    /// The fingerprints of the refresh tokens of this process.
    var fingerprints: [String] = []
  }
  private struct Access {
    let token: String
    /// How long it counts as good; `nil` until it is refused.
    let life: Duration?
    let age: @Sendable () -> Duration
  }

  private let client: OAuth2Client
  private let endpoint: HTTPAddress
  private let transport: any HTTPTransport
  private let deadline: Duration
  private let clock: any SyncPorts.Clock<Duration>
  private let turn = Turn()
  private let state = Mutex(State())

  private static let operation = "fetching an access token"
  /// The most bytes of an answer.
  private static let limit = 64 << 10

  /// - Throws: `invalidConfiguration` for an invalid or unencrypted address.
  init(
    _ client: OAuth2Client, options: HTTPSession.Options, transport: any HTTPTransport,
    clock: any SyncPorts.Clock<Duration>
  ) throws(SyncError) {
    guard let endpoint = HTTPAddress(client.tokenURL) else {
      throw Self.failure(
        .invalidConfiguration, "The token endpoint's address is invalid (auth.oauth2.tokenURL).")
    }
    guard
      endpoint.origin.isSecure || endpoint.origin.isLoopback || options.plainHTTP == .everywhere
    else {
      throw Self.failure(
        .invalidConfiguration, "\(endpoint.origin) is not encrypted; use https (auth.oauth2.tokenURL).")
    }
    self.client = client
    self.endpoint = endpoint
    self.transport = transport
    self.clock = clock
    deadline = options.deadline
  }

  var mayChange: Bool { true }

  func authorize(_ request: inout HTTPRequest) async throws(SyncError) {
    request.headers["Authorization"] = "Bearer \(try await token(after: nil))"
  }

  func renew(after refused: HTTPRequest) async throws(SyncError) -> Bool {
    guard let token = refused.headers["Authorization"]?.dropFirst("Bearer ".count) else { return false }
    _ = try await self.token(after: String(token))
    return true
  }

  func fingerprints() async throws(SyncError) -> [String] {
    guard let refresh = client.refreshToken else {
      return [HTTPCredentials.fingerprint(of: "\(endpoint) \(try await client.clientID.current())")]
    }
    let current = HTTPCredentials.fingerprint(of: try await refreshToken(refresh))
    return state.withLock { state in
      if state.fingerprints.last != current {
        // A token that another program has put into the file is not known to be a successor.
        state.fingerprints = [current]
      }
      return state.fingerprints
    }
  }

  /// Returns an access token, and fetches another one if it ends soon or was refused.
  private func token(after refused: String?) async throws(SyncError) -> String {
    try await turn.take(during: Self.operation)
    defer { turn.pass() }
    if let access = state.withLock({ $0.access }), access.token != refused,
      access.life.map({ access.age() < $0 }) ?? true
    {
      return access.token
    }
    return try await fetched()
  }

  // MARK: One exchange

  private func fetched() async throws(SyncError) -> String {
    if let unkept = state.withLock({ $0.unkept }) { try keep(unkept) }
    // The request for a token takes its time as well.
    let age = clock.stopwatch()
    let sent = if let refresh = client.refreshToken { try await refreshToken(refresh) } else { String?.none }
    let clientID = try await client.clientID.current()
    let secret = try await client.clientSecret?.current()
    var isInForm = secret == nil || state.withLock { $0.isInForm }
    var answer = try await exchange(sent, clientID, secret, isInForm: isInForm)
    if !isInForm, answer.error == "invalid_client" {
      // Servers have to take the header, and some take the form alone (RFC 6749, 2.3.1).
      isInForm = true
      answer = try await exchange(sent, clientID, secret, isInForm: true)
    }
    if answer.error == "invalid_grant", let sent, let refresh = client.refreshToken {
      // Another process may have taken the successor meanwhile.
      let now = try await refreshToken(refresh)
      if now != sent { answer = try await exchange(now, clientID, secret, isInForm: isInForm) }
    }
    guard let token = answer.token else { throw refusal(answer, hiding: [sent, secret, clientID]) }
    state.withLock { state in
      state.isInForm = isInForm && secret != nil
      state.access = nil
    }
    if let successor = answer.successor, successor != sent {
      if let sent {
        note(HTTPCredentials.fingerprint(of: successor), after: HTTPCredentials.fingerprint(of: sent))
      }
      try keep(successor)
    }
    let life = answer.seconds.map { Duration.seconds(max(0, $0 - min(60, $0 / 5))) }
    state.withLock { $0.access = Access(token: token, life: life, age: age) }
    return token
  }

  private func note(_ successor: String, after former: String) {
    state.withLock { state in
      if state.fingerprints.last != former { state.fingerprints = [former] }
      state.fingerprints.append(successor)
    }
  }

  /// The current refresh token: the unkept successor, or what its place holds.
  private func refreshToken(_ place: HTTPSecret) async throws(SyncError) -> String {
    if let unkept = state.withLock({ $0.unkept }) { return unkept }
    return try await place.current(during: Self.operation).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Writes the successor of the refresh token to its file, before it is needed.
  private func keep(_ successor: String) throws(SyncError) {
    state.withLock { $0.unkept = successor }
    guard let path = client.refreshToken?.filePath else { return }
    try SecretFile.replace(path, with: successor, during: "keeping the next refresh token")
    state.withLock { $0.unkept = nil }
  }

  /// The parts of an answer.
  private struct Answer {
    var response: HTTPResponse
    var token: String?
    var seconds: Double?
    var successor: String?
    var error: String?
    var words: String?
  }

  private func exchange(
    _ refresh: String?, _ clientID: String, _ secret: String?, isInForm: Bool
  ) async throws(SyncError) -> Answer {
    var form = [("grant_type", refresh == nil ? "client_credentials" : "refresh_token")]
    if let refresh { form.append(("refresh_token", refresh)) }
    if let scope = client.scope { form.append(("scope", scope)) }
    if isInForm {
      form.append(("client_id", clientID))
      if let secret { form.append(("client_secret", secret)) }
    }
    var request = HTTPRequest(
      "POST", endpoint,
      headers: [
        "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
        "User-Agent": HTTPSession.userAgent, "Accept-Encoding": "identity",
      ],
      body: Array(
        form.map { "\(PercentEncoding.encoded($0.0))=\(PercentEncoding.encoded($0.1))" }
          .joined(separator: "&").utf8),
      deadline: deadline, bodyLimit: Self.limit)
    if !isInForm, let secret {
      let pair = "\(PercentEncoding.encoded(clientID)):\(PercentEncoding.encoded(secret))"
      request.headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
    }
    var answer: Answer
    do {
      answer = Answer(response: try await transport.send(request))
    } catch {
      var failure = error
      failure.operation = Self.operation
      throw failure
    }
    guard let value = try? JSONValueSlice(checking: answer.response.body[...]), value.kind == .object else {
      return answer
    }
    let found = JSONPointer.values(
      at: ["/access_token", "/expires_in", "/refresh_token", "/error", "/error_description"], in: value)
    if answer.response.status == 200 { answer.token = found[0]?.string().flatMap { $0.isEmpty ? nil : $0 } }
    answer.seconds = found[1]?.double() ?? found[1]?.string().flatMap(Double.init)
    answer.successor = found[2]?.string().flatMap { $0.isEmpty ? nil : $0 }
    (answer.error, answer.words) = (found[3]?.string(), found[4]?.string())
    return answer
  }

  /// The error of an answer without a token, with the server's own words.
  ///
  /// - Parameter secrets: What the words must not repeat.
  private func refusal(_ answer: Answer, hiding secrets: [String?]) -> SyncError {
    let status = answer.response.status
    var words = [answer.error, answer.words].compactMap(\.self).joined(separator: ": ")
    for case let secret? in secrets where !secret.isEmpty { words = words.replacing(secret, with: "…") }
    let told = words.isEmpty ? "" : ": \(words.prefix(200))"
    let message = "The token endpoint at \(endpoint.origin) answered \(status)\(told)."
    if status == 429 || status >= 500 {
      return SyncError(
        .remoteUnavailable, during: Self.operation, message,
        retryAfter: RequestedPause.retryAfter(in: answer.response))
    }
    let isRefusal = (400...499).contains(status)
    return Self.failure(
      isRefusal ? .authentication : .invalidResponse,
      isRefusal ? message : "\(message.dropLast()), which is no answer with an access token.")
  }

  private static func failure(_ code: SyncError.Code, _ message: String) -> SyncError {
    SyncError(code, during: operation, message)
  }
}
