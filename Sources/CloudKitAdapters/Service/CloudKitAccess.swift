#if CloudKit
  import Foundation
  import HTTPAdapters
  public import SyncModels
  import Synchronization

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

  /// A web auth token in a file of one process.
  ///
  /// The file is replaced whole by each successor, and only its owner can read it. A second file,
  /// beside it, is locked while the object exists.
  public final class TokenFile: WebAuthTokenKeeper {
    private let path: String
    private let lock: Int32
    private let token: Mutex<String>

    /// Opens a file that holds a token.
    ///
    /// - Throws: `storeBusy` if another process uses the token; `invalidConfiguration` for a file
    ///   that is not there, or holds no token.
    public init(path: String) throws(SyncError) {
      func refuse(_ message: String, _ code: SyncError.Code = .invalidConfiguration) -> SyncError {
        SyncError(code, during: "opening the web auth token", message)
      }
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw refuse("The file \(path), which should hold a web auth token, cannot be read.")
      }
      let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
      guard Self.isToken(token) else { throw refuse("The file \(path) holds no web auth token.") }
      let descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw refuse("The file \(path).lock cannot be made.") }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw refuse(
          "Another process uses the web auth token in \(path); each of its requests would void the other's.",
          .storeBusy)
      }
      self.path = path
      lock = descriptor
      // Read again under the lock: another process may have replaced it meanwhile.
      let latest = (try? String(contentsOfFile: path, encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines)
      self.token = Mutex(latest.flatMap { Self.isToken($0) ? $0 : nil } ?? token)
    }

    deinit { close(lock) }

    /// The token for the next request.
    public func current() -> String { token.withLock { $0 } }

    /// Writes the successor in the file's place. A link to the file stays a link.
    public func keep(_ successor: String) throws(SyncError) {
      try SecretFile.replace(path, with: successor, during: "keeping the next web auth token")
      token.withLock { $0 = successor }
    }

    private static func isToken(_ text: String) -> Bool {
      (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
  }
#endif
