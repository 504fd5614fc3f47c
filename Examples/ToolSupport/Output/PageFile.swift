package import CanonicalSync
import Foundation

/// The file of a page. It appears as a whole, or not at all.
package struct PageFile: Sendable {
  /// The path.
  package let path: String
  /// What the page is called.
  private let name: String

  /// Names a file.
  ///
  /// - Parameters:
  ///   - name: What the page is called, such as `report`.
  ///   - beginning: The beginning of each such page.
  ///   - hint: What else to do than to write that file.
  /// - Throws: `invalidConfiguration` if there is something else than an earlier page of that kind,
  ///   such as a store, which is not changed; or if the folder is missing.
  package init(
    path: String, of name: String, startingWith beginning: String, hint: String = "name another file"
  ) throws(SyncError) {
    self.name = name
    // A link stays a link: the file that it names is replaced.
    let file = URL(filePath: path).resolvingSymlinksInPath()
    self.path = file.path
    var status = stat()
    guard lstat(self.path, &status) == 0 else {
      let folder = file.deletingLastPathComponent().path
      guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw SyncError(
          .invalidConfiguration, during: "writing a \(name)",
          "\(path) cannot be written: No such file or directory: \(folder)")
      }
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG, Self.begins(self.path, with: beginning) else {
      throw SyncError(
        .invalidConfiguration, during: "writing a \(name)",
        "\(path) exists already, and is no \(name); \(hint).")
    }
  }

  /// Writes the page beside the file, and then gives it the file's name.
  ///
  /// - Parameter isPrivate: Whether only the file's owner may read it.
  /// - Throws: `storeFailure`. An earlier page is still there.
  package func write(_ page: String, isPrivate: Bool = false) throws(SyncError) {
    let draft = "\(path).\(UUID().uuidString)"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL, isPrivate ? 0o600 : 0o666)
    guard descriptor >= 0 else { throw failure() }
    var reason: SyncError?
    do {
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try file.write(contentsOf: Data(page.utf8))
      // Without this, the new name could outlive the content after a power failure.
      try file.synchronize()
      try file.close()
    } catch {
      reason = SyncError(
        .storeFailure, during: "writing a \(name)",
        "\(path) cannot be written: \(error.systemReason)",
        underlying: error)
    }
    if reason == nil, rename(draft, path) != 0 { reason = failure() }
    if let reason {
      unlink(draft)
      throw reason
    }
  }

  private func failure() -> SyncError {
    SyncError(
      .storeFailure, during: "writing a \(name)",
      "\(path) cannot be written: \(String(cString: strerror(errno)))")
  }

  private static func begins(_ path: String, with beginning: String) -> Bool {
    let beginning = Data(beginning.utf8)
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    // A file that cannot be read is not known to be such a page, and is left alone.
    return (try? file.read(upToCount: beginning.count)) == beginning
  }
}
