import Foundation
package import SyncModels

/// Credentials for one origin. No description contains the secret.
public struct HTTPCredentials: Hashable, Sendable {
  private enum Scheme: Hashable, Sendable {
    case basic(HTTPSecret)
    case bearer(HTTPSecret)
    case header(String, HTTPSecret)
    case query(String, HTTPSecret)
    case oauth2(OAuth2Client)
  }
  private let scheme: Scheme

  /// A user's name and password.
  ///
  /// They are sent as they are: over plain HTTP, every host on the way can read them.
  public static func basic(user: String, password: String) -> HTTPCredentials {
    basic(.text("\(user):\(password)"))
  }

  /// A user's name and password, with a colon between them, in one secret.
  public static func basic(_ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .basic(secret))
  }

  /// A bearer token that an identity provider issued.
  public static func bearer(_ token: String) -> HTTPCredentials { bearer(.text(token)) }

  /// A bearer token that is read when a request needs it.
  public static func bearer(_ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .bearer(secret))
  }

  /// A header of the server's own, such as `X-Api-Key`.
  public static func header(_ name: String, _ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .header(name, secret))
  }

  /// A parameter of each request's query, such as `api_key`.
  ///
  /// It is added to a request as it is sent. Links of the server that repeat it are kept without it.
  public static func query(_ name: String, _ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .query(name, secret))
  }

  /// Access tokens that are fetched from an OAuth 2 server (RFC 6749).
  public static func oauth2(_ client: OAuth2Client) -> HTTPCredentials {
    HTTPCredentials(scheme: .oauth2(client))
  }

  /// The parameter of the query that holds the secret; `nil` for other credentials.
  package var parameter: String? {
    if case .query(let name, _) = scheme { name } else { nil }
  }

  /// The client of an OAuth 2 server; `nil` for other credentials.
  package var client: OAuth2Client? {
    if case .oauth2(let client) = scheme { client } else { nil }
  }

  /// The secret that requests carry; `nil` for fetched tokens.
  private var secret: HTTPSecret? {
    switch scheme {
    case .basic(let secret), .bearer(let secret), .header(_, let secret), .query(_, let secret): secret
    case .oauth2: nil
    }
  }

  private var headerName: String {
    if case .header(let name, _) = scheme { name } else { "Authorization" }
  }

  private func headerValue(_ secret: String) -> String {
    switch scheme {
    case .basic: "Basic \(Data(secret.utf8).base64EncodedString())"
    case .bearer: "Bearer \(secret)"
    case .header, .query, .oauth2: secret
    }
  }

  private static func isSendable(_ value: String) -> Bool {
    value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}

extension HTTPCredentials: HTTPAuthorization {
  package var isSendable: Bool {
    guard parameter == nil else { return true }
    return HTTPHeaders.isName(headerName)
      && secret?.known.map { Self.isSendable(headerValue($0)) } != false
  }

  package var mayChange: Bool { secret?.mayChange ?? true }

  package func authorize(_ request: inout HTTPRequest) async throws(SyncError) {
    guard let secret else { return }
    let text = try await secret.current()
    if let parameter {
      request.address = request.address.without([parameter]).adding(parameter, text)
      return
    }
    let value = headerValue(text)
    guard Self.isSendable(value) else {
      throw SyncError(
        .invalidConfiguration, during: "reading a secret",
        "The secret of \(secret) contains a character that a header cannot hold.")
    }
    request.headers[headerName] = value
  }

  /// A refused secret may have been replaced since.
  package func renew(after refused: HTTPRequest) async throws(SyncError) -> Bool {
    guard let secret, secret.mayChange else { return false }
    var again = refused
    try await authorize(&again)
    if again != refused { return true }
    secret.forget()
    try await authorize(&again)
    return again != refused
  }

  package func fingerprints() async throws(SyncError) -> [String] {
    guard let secret else { return [] }
    let text = try await secret.current()
    // A user who has another password is the same user.
    guard case .basic = scheme else { return [Self.fingerprint(of: text)] }
    return [Self.fingerprint(of: String(text.prefix { $0 != ":" }))]
  }

  /// Half of a digest: it tells secrets apart, and many others have the same.
  package static func fingerprint(of secret: String) -> String {
    String(TokenFields.digest(of: secret.utf8).suffix(8))
  }
}

extension HTTPCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The scheme alone.
  public var description: String {
    switch scheme {
    case .basic: "basic credentials"
    case .bearer: "bearer credentials"
    case .header(let name, _): "credentials in \(name)"
    case .query(let name, _): "credentials in the parameter \(name)"
    case .oauth2: "tokens of an OAuth 2 server"
    }
  }
  /// The scheme alone.
  public var debugDescription: String { description }
  /// The scheme alone.
  public var customMirror: Mirror { Mirror(self, children: ["scheme": description]) }
}
