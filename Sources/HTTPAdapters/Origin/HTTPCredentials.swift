import Foundation

/// Who we say we are to one origin. The secret is in no description.
public struct HTTPCredentials: Hashable, Sendable {
  private let scheme: String
  let headerValue: String

  /// A user's name and password, sent as they are: over plain HTTP, everybody on the way reads them.
  public static func basic(user: String, password: String) -> HTTPCredentials {
    HTTPCredentials(
      scheme: "basic", headerValue: "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
  }

  /// A token of whoever vouches for us.
  public static func bearer(_ token: String) -> HTTPCredentials {
    HTTPCredentials(scheme: "bearer", headerValue: "Bearer \(token)")
  }

  /// Whether the value can stand in a header: a line break in it would begin another one.
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
