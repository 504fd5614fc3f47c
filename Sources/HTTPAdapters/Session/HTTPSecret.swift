import Foundation
package import SyncModels

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
