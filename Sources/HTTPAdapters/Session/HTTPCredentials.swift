import Foundation
package import SyncModels

/// Credentials for one origin. No description contains the secret.
public struct HTTPCredentials: Hashable, Sendable {
  private enum Scheme: Hashable, Sendable {
    case basic
    case bearer
    case header(String)
  }
  private let scheme: Scheme
  private let secret: HTTPSecret

  /// A user's name and password.
  ///
  /// They are sent as they are: over plain HTTP, every host on the way can read them.
  public static func basic(user: String, password: String) -> HTTPCredentials {
    basic(.text("\(user):\(password)"))
  }

  /// A user's name and password, with a colon between them, in one secret.
  public static func basic(_ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .basic, secret: secret)
  }

  /// A bearer token that an identity provider issued.
  public static func bearer(_ token: String) -> HTTPCredentials { bearer(.text(token)) }

  /// A bearer token that is read when a request needs it.
  public static func bearer(_ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .bearer, secret: secret)
  }

  /// A header of the server's own, such as `X-Api-Key`.
  public static func header(_ name: String, _ secret: HTTPSecret) -> HTTPCredentials {
    HTTPCredentials(scheme: .header(name), secret: secret)
  }

  private var headerName: String {
    if case .header(let name) = scheme { name } else { "Authorization" }
  }

  private func headerValue(_ secret: String) -> String {
    switch scheme {
    case .basic: "Basic \(Data(secret.utf8).base64EncodedString())"
    case .bearer: "Bearer \(secret)"
    case .header: secret
    }
  }

  private static func isSendable(_ value: String) -> Bool {
    value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}

extension HTTPCredentials: HTTPAuthorization {
  package var isSendable: Bool {
    HTTPHeaders.isName(headerName) && secret.known.map { Self.isSendable(headerValue($0)) } != false
  }

  package func authorize(_ request: inout HTTPRequest) throws(SyncError) {
    let value = headerValue(try secret.read())
    guard Self.isSendable(value) else {
      throw SyncError(
        .invalidConfiguration, during: "reading a secret",
        "The secret of \(secret) contains a character that a header cannot hold.")
    }
    request.headers[headerName] = value
  }
}

extension HTTPCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The scheme alone.
  public var description: String {
    switch scheme {
    case .basic: "basic credentials"
    case .bearer: "bearer credentials"
    case .header(let name): "credentials in \(name)"
    }
  }
  /// The scheme alone.
  public var debugDescription: String { description }
  /// The scheme alone.
  public var customMirror: Mirror { Mirror(self, children: ["scheme": description]) }
}
