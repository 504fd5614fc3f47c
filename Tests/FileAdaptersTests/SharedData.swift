import CanonicalSyncTestProcesses
import Foundation

/// Real data, if a copy is present.
enum SharedData {
  /// The directory that checkouts share: given by the environment, or beside the package.
  static let directory =
    (ProcessInfo.processInfo.environment["CANONICALSYNC_SHARED"].map { URL(filePath: $0) }
    ?? URL(filePath: #filePath).appending(path: "../../../../shared").standardizedFileURL)
    .appending(path: "data")

  static func isPresent(_ set: String) -> Bool {
    FileManager.default.fileExists(atPath: directory.appending(path: "\(set)/games.ndjson.gz").path)
  }

  /// Unpacks a set's files into a directory.
  static func unpack(_ set: String, into target: TemporaryDirectory) throws {
    let folder = directory.appending(path: set)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasSuffix(".ndjson.gz") {
      let output = target.path + "/" + name.dropLast(3)
      try Data().write(to: URL(filePath: output))
      let gunzip = try ChildProcess(
        ["gunzip", "-c", folder.appending(path: name).path],
        output: try FileHandle(forWritingTo: URL(filePath: output)))
      guard gunzip.waitUntilExit().status == 0 else { throw CocoaError(.fileReadCorruptFile) }
    }
  }
}
