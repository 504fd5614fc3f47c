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

/// A secret, by the place that it is read from when a request needs it.
///
/// No description contains the secret.
public struct HTTPSecret: Hashable, Sendable {
  private enum Place: Hashable, Sendable {
    case text(String)
    case environment(String)
    case file(String)
  }
  private let place: Place

  /// The most bytes of a file that are read.
  private static let fileLimit = 64 << 10

  /// A secret that the program has already.
  public static func text(_ secret: String) -> HTTPSecret { HTTPSecret(place: .text(secret)) }

  /// A variable of the process's environment.
  public static func environment(_ name: String) -> HTTPSecret { HTTPSecret(place: .environment(name)) }

  /// The contents of a file, without a line break at the end.
  ///
  /// The file is read for each request, so a replaced secret takes effect at once.
  public static func file(_ path: String) -> HTTPSecret { HTTPSecret(place: .file(path)) }

  /// The secret, if it is known without reading anything.
  var known: String? {
    if case .text(let secret) = place { secret } else { nil }
  }

  /// Reads the secret.
  ///
  /// - Throws: `invalidConfiguration` for a variable that is not set and for a file that is not
  ///   there, is empty, has more than 64 KiB, or is not text.
  package func read(during operation: String = "reading a secret") throws(SyncError) -> String {
    func refuse(_ message: String) -> SyncError {
      SyncError(.invalidConfiguration, during: operation, message)
    }
    switch place {
    case .text(let secret):
      return secret
    case .environment(let name):
      guard let secret = ProcessInfo.processInfo.environment[name], !secret.isEmpty else {
        throw refuse("The environment has no \(name), which should hold a secret.")
      }
      return secret
    case .file(let path):
      guard let file = FileHandle(forReadingAtPath: path) else {
        throw refuse("The file \(path), which should hold a secret, cannot be opened.")
      }
      defer { try? file.close() }  // Nothing was written.
      let data: Data
      do {
        data = try file.read(upToCount: Self.fileLimit + 1) ?? Data()
      } catch {
        throw SyncError(
          .invalidConfiguration, during: operation,
          "The file \(path), which should hold a secret, cannot be read.", underlying: error)
      }
      guard data.count <= Self.fileLimit, let text = String(data: data, encoding: .utf8) else {
        throw refuse("The file \(path) should hold a secret; it is too long, or not text.")
      }
      let secret = text.trimmingCharacters(in: .newlines)
      guard !secret.isEmpty else { throw refuse("The file \(path), which should hold a secret, is empty.") }
      return secret
    }
  }
}

extension HTTPSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The place of the secret, without the secret.
  public var description: String {
    switch place {
    case .text: "a secret"
    case .environment(let name): "env:\(name)"
    case .file(let path): "file:\(path)"
    }
  }
  /// The place of the secret, without the secret.
  public var debugDescription: String { description }
  /// The place of the secret, without the secret.
  public var customMirror: Mirror { Mirror(self, children: ["place": description]) }
}

/// The part of a session that makes its requests acceptable to the server.
package protocol HTTPAuthorization: Sendable {
  /// Whether headers can hold the values. A line break would begin another header.
  ///
  /// `true` for values that are known only when a request is sent.
  var isSendable: Bool { get }

  /// Adds credentials to a request that is about to be sent to the session's origin.
  ///
  /// It is called anew for each attempt and for each redirect, so that a signature and its time
  /// are those of the attempt. The address keeps its origin.
  func authorize(_ request: inout HTTPRequest) async throws(SyncError)

  /// Receives each answer. A server may replace a token that serves for one request.
  func receive(_ response: HTTPResponse)
}

extension HTTPAuthorization {
  package var isSendable: Bool { true }
  package func receive(_ response: HTTPResponse) {}
}
