import Foundation
package import SyncModels
import SyncPorts
import Synchronization

/// A secret, by the place that it is read from when a request needs it.
///
/// No description contains the secret.
public struct HTTPSecret: Hashable, Sendable {
  private enum Place: Hashable, Sendable {
    case text(String)
    case environment(String)
    case file(String)
    case app(Provider)
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

  /// A secret that the app provides, such as one of a keychain.
  ///
  /// The closure is called before the first request, and again after a 401. One call runs at a time.
  ///
  /// - Parameter provide: Returns the current secret. A thrown `SyncError` ends the request with it,
  ///   and any other error with `authentication`.
  public static func provided(by provide: @escaping @Sendable () async throws -> String) -> HTTPSecret {
    HTTPSecret(place: .app(Provider(provide)))
  }

  /// The secret, if it is known without reading anything.
  var known: String? {
    if case .text(let secret) = place { secret } else { nil }
  }

  /// Whether the secret may be another one later in this process.
  var mayChange: Bool {
    switch place {
    case .text, .environment: false
    case .file, .app: true
    }
  }

  /// The path of the file, if the secret is in one.
  var filePath: String? {
    if case .file(let path) = place { path } else { nil }
  }

  /// Asks the app again for the next request.
  func forget() {
    if case .app(let provider) = place { provider.forget() }
  }

  /// Returns the secret for a request.
  ///
  /// - Throws: The errors of ``read(during:)``, and those of the app's closure.
  package func current(during operation: String = "reading a secret") async throws(SyncError) -> String {
    if case .app(let provider) = place { return try await provider.secret(during: operation) }
    return try read(during: operation)
  }

  /// Reads the secret.
  ///
  /// - Throws: `invalidConfiguration` for a variable that is not set, for a file that is not there, is
  ///   empty, has more than 64 KiB, or is not text, and for a secret that only ``current(during:)`` can
  ///   ask for.
  package func read(during operation: String = "reading a secret") throws(SyncError) -> String {
    func refuse(_ message: String) -> SyncError {
      SyncError(.invalidConfiguration, during: operation, message)
    }
    switch place {
    case .text(let secret): return secret
    case .app: throw refuse("A secret of the app cannot be used here.")
    case .environment(let name):
      guard let secret = ProcessInfo.processInfo.environment[name], !secret.isEmpty else {
        throw refuse("The environment has no \(Self.told(variable: name)), which should hold a secret.")
      }
      return secret
    case .file(let path):
      let told = "The file \(Self.told(path: path)), which should hold a secret,"
      guard let file = FileHandle(forReadingAtPath: path) else { throw refuse("\(told) cannot be opened.") }
      defer { try? file.close() }  // Nothing was written.
      let data: Data
      do {
        data = try file.read(upToCount: Self.fileLimit + 1) ?? Data()
      } catch {
        throw SyncError(
          .invalidConfiguration, during: operation, "\(told) cannot be read.", underlying: error)
      }
      guard data.count <= Self.fileLimit, let text = String(data: data, encoding: .utf8) else {
        throw refuse("The file \(path) should hold a secret; it is too long, or not text.")
      }
      let secret = text.trimmingCharacters(in: .newlines)
      guard !secret.isEmpty else { throw refuse("\(told) is empty.") }
      return secret
    }
  }

  /// Calls the app's closure, one call at a time, and keeps the answer until it is refused.
  private final class Provider: Hashable, Sendable {
    private let provide: @Sendable () async throws -> String
    private let turn = Turn()
    private let kept = Mutex<String?>(nil)

    init(_ provide: @escaping @Sendable () async throws -> String) { self.provide = provide }

    func forget() { kept.withLock { $0 = nil } }

    func secret(during operation: String) async throws(SyncError) -> String {
      try await turn.take(during: operation)
      defer { turn.pass() }
      if let secret = kept.withLock({ $0 }) { return secret }
      do {
        let secret = try await provide()
        kept.withLock { $0 = secret }
        return secret
      } catch {
        if let error = error as? SyncError { throw error }
        throw SyncError(
          .authentication, during: operation, "The app could not provide a secret.", underlying: error)
      }
    }

    static func == (one: Provider, other: Provider) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
}

// A secret may stand where its place should: `env:ghp_…`. Such a place is not quoted.
extension HTTPSecret {
  /// The name of a variable, unless it looks like a secret.
  private static func told(variable name: String) -> String {
    isPlain(name) ? name : "variable of that name"
  }

  /// The path of a file, unless it looks like a secret.
  private static func told(path: String) -> String {
    let url = URL(filePath: path)
    let folder = url.deletingLastPathComponent().path
    let isPlace = path.contains("/") && FileManager.default.fileExists(atPath: folder)
    return isPlace || isPlain(path.replacing(".", with: "_")) ? path : "of that path"
  }

  /// Whether a text is made of words: without many digits, and without a change of case inside.
  private static func isPlain(_ text: String) -> Bool {
    guard text.utf8.count <= 40,
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) })
    else { return false }
    return text.split { "_-".contains($0) }.allSatisfy { word in
      word.count <= 16 && word.count(where: \.isNumber) <= 2
        && (word == word.uppercased() || word.dropFirst() == word.dropFirst().lowercased())
    }
  }
}

extension HTTPSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The place of the secret, without the secret.
  public var description: String {
    switch place {
    case .text: "a secret"
    case .environment(let name): "env:\(Self.isPlain(name) ? name : "…")"
    case .file(let path): "file:\(path)"
    case .app: "a secret of the app"
    }
  }
  /// The place of the secret, without the secret.
  public var debugDescription: String { description }
  /// The place of the secret, without the secret.
  public var customMirror: Mirror { Mirror(self, children: ["place": description]) }
}
