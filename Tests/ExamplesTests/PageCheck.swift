import Foundation
import Testing

/// Opens pages in headless Chromium, by `Tests/page-check`.
enum PageCheck {
  /// Checks a page, and draws the pictures of the guides if that is wanted.
  ///
  /// - Parameter name: The name of the pictures.
  static func run(_ page: String, drawnAs name: String? = nil) async throws -> Tool.Outcome {
    var options: [String] = []
    if let name, drawsPictures {
      options = ["--name", name, "--pictures", root.appending(path: "Docs/Pictures").path]
    }
    return try await withFolder { folder in
      try Data(page.utf8).write(to: folder.url.appending(path: "page.html"))
      return try await RunningTool(
        executable: root.appending(path: "Tests/page-check"), [folder.path("page.html")] + options, in: nil
      ).outcome()
    }
  }

  /// Whether the pictures of the guides are written.
  private static let drawsPictures = ProcessInfo.processInfo.environment["CANONICALSYNC_PICTURES"] != nil

  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

  static let hasBrowser =
    has("python3") && ["chromium", "chromium-browser", "google-chrome"].contains(where: has)

  private static func has(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }
}
