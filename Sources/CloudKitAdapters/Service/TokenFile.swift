#if CloudKit
  import Foundation
  public import SyncModels
  import Synchronization

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

    /// Writes the successor beside the file, flushes it, and puts it in the file's place.
    public func keep(_ successor: String) throws(SyncError) {
      func refuse() -> SyncError {
        SyncError(
          .storeFailure, during: "keeping the next web auth token",
          "The next token could not be written to \(path): \(String(cString: strerror(errno))). The user may have to sign in again."
        )
      }
      let draft = "\(path).next"
      let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw refuse() }
      let bytes = Array("\(successor)\n".utf8)
      let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
      close(descriptor)
      guard isWritten, rename(draft, path) == 0 else { throw refuse() }
      token.withLock { $0 = successor }
    }

    private static func isToken(_ text: String) -> Bool {
      (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
  }
#endif
