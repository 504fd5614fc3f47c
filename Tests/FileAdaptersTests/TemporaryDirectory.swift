import Foundation

/// A directory that lasts as long as a test.
struct TemporaryDirectory: Sendable {
  let path: String

  /// Writes a file anew in place, so that whoever has it open sees it change.
  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"), options: [])
  }

  /// Writes a file anew in place.
  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  /// Puts another file in a file's place, as careful writers do.
  func replace(_ name: String, with text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
  }

  /// Sets the time at which a file was last modified, in seconds since 1970.
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
    // Whatever is left is the system's to clean up.
    try? FileManager.default.removeItem(at: url)
  }
  return try await body(TemporaryDirectory(path: url.path))
}
