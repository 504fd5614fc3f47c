import Foundation

/// A directory that exists for the time of a test.
struct TemporaryDirectory: Sendable {
  let path: String

  /// Rewrites a file in place, so that programs with the file open see the change.
  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"), options: [])
  }

  /// Rewrites a file in place.
  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  /// Replaces a file by another one, as careful writers do.
  func replace(_ name: String, with text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
  }

  /// Sets a file's modification time, in seconds since 1970.
  func setModified(_ name: String, at seconds: Int) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: TimeInterval(seconds))],
      ofItemAtPath: "\(path)/\(name)")
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
  }
}

/// Runs a test in a directory of its own.
func withTemporaryDirectory<R>(_ body: (TemporaryDirectory) async throws -> R) async throws -> R {
  let url = FileManager.default.temporaryDirectory.appending(path: "records-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer {
    // The system cleans up the rest.
    try? FileManager.default.removeItem(at: url)
  }
  return try await body(TemporaryDirectory(path: url.path))
}
