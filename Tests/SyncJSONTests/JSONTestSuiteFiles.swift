import Foundation

/// The parsing cases of Nicolas Seriot's JSONTestSuite, if a copy is present.
enum JSONTestSuiteFiles {
  /// The directory that checkouts share: given by the environment, or beside the package.
  static let shared =
    ProcessInfo.processInfo.environment["CANONICALSYNC_SHARED"].map { URL(filePath: $0) }
    ?? URL(filePath: #filePath).appending(path: "../../../../../shared").standardizedFileURL

  static let directory = shared.appending(path: "JSONTestSuite/test_parsing")

  static var isPresent: Bool { FileManager.default.fileExists(atPath: directory.path) }

  /// The names of the cases: `y_` must be accepted, `n_` refused, `i_` may be either.
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

  static func bytes(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: directory.appending(path: name)))
  }
}
