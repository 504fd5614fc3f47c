import Foundation

/// Credentials for one origin. No description contains the secret.
public struct HTTPCredentials: Hashable, Sendable {
  private let scheme: String
  let headerValue: String

  /// A user's name and password.
  ///
  /// They are sent as they are: over plain HTTP, every host on the way can read them.
  public static func basic(user: String, password: String) -> HTTPCredentials {
    HTTPCredentials(
      scheme: "basic", headerValue: "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
  }

  /// A bearer token that an identity provider issued.
  public static func bearer(_ token: String) -> HTTPCredentials {
    HTTPCredentials(scheme: "bearer", headerValue: "Bearer \(token)")
  }

  /// Whether a header can hold the value. A line break would begin another header.
  var isSendable: Bool { headerValue.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}

extension HTTPCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The scheme alone.
  public var description: String { "\(scheme) credentials" }
  /// The scheme alone.
  public var debugDescription: String { description }
  /// The scheme alone.
  public var customMirror: Mirror { Mirror(self, children: ["scheme": scheme]) }
}
