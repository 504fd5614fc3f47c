import CanonicalSync
import Foundation

/// The file of a report. It appears as a whole, or not at all.
struct ReportFile {
  /// The path.
  let path: String

  /// Names a file.
  ///
  /// - Throws: `invalidConfiguration` if there is something else than an earlier report, such as a
  ///   store. It is not changed.
  init(path: String) throws(SyncError) {
    // A link stays a link: the file that it names is replaced.
    self.path = URL(filePath: path).resolvingSymlinksInPath().path
    var status = stat()
    guard lstat(self.path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG, Self.isReport(self.path) else {
      throw SyncError(
        .invalidConfiguration, during: "writing a report",
        "\(path) exists already, and is no report; name another file, or - for standard output.")
    }
  }

  /// Writes the page beside the file, and then gives it the file's name.
  ///
  /// - Parameter isPrivate: Whether only the file's owner may read it.
  /// - Throws: `storeFailure`. An earlier report is still there.
  func write(_ page: String, isPrivate: Bool) throws(SyncError) {
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
        .storeFailure, during: "writing a report", "\(path) cannot be written: \(error.localizedDescription)",
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
      .storeFailure, during: "writing a report",
      "\(path) cannot be written: \(String(cString: strerror(errno)))")
  }

  private static func isReport(_ path: String) -> Bool {
    let beginning = Data(ReportPage.beginning.utf8)
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    // A file that cannot be read is not known to be a report, and is left alone.
    return (try? file.read(upToCount: beginning.count)) == beginning
  }
}
