#if CloudKit
  public import SyncModels

  /// The place where a user's web auth token is kept between requests.
  ///
  /// For implementers: each token is good for one request, and its answer brings the next one. The
  /// source sends one request at a time, and calls ``keep(_:)`` before it uses the answer.
  public protocol WebAuthTokenKeeper: Sendable {
    /// The token for the next request.
    ///
    /// - Throws: `authentication` if there is none; any other error stops the sync.
    func current() async throws(SyncError) -> String

    /// Replaces the token, all or nothing, so that it survives the process.
    ///
    /// - Throws: If the token could not be kept. The sync stops, and the next one may need a new
    ///   sign-in.
    func keep(_ token: String) async throws(SyncError)
  }

  /// Who asks for records.
  public enum CloudKitAccess: Sendable {
    /// A server, for the public database alone.
    case serverToServer(ServerToServerKey)
    /// A signed-in user of the app.
    case user(apiToken: String, token: any WebAuthTokenKeeper)
  }

  extension CloudKitAccess: CustomStringConvertible, CustomReflectable {
    /// The kind of the access alone.
    public var description: String {
      switch self {
      case .serverToServer: "a server-to-server key"
      case .user: "a user's token"
      }
    }
    /// The kind of the access alone.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
  }

  /// The user has to sign in; the `underlying` error of an `authentication` failure.
  public struct SignInRequired: Error, Sendable {
    /// The page where the user signs in; `nil` if the service named none.
    public let page: String?
  }
#endif
