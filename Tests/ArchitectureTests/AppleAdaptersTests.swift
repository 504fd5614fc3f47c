import CanonicalSyncTestProcesses
import Foundation
import Testing

/// What only Apple's platforms compile is checked here against stand-ins for the system's modules.
@Suite("The adapters of Apple's systems", .timeLimit(.minutes(10)))
struct AppleAdaptersTests {
  private static let features = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
  ].flatMap { ["-enable-upcoming-feature", $0] }

  #if os(Linux)
    @Test func compile() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "apple-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      // The system removes any remaining files.
      defer { try? FileManager.default.removeItem(at: folder) }
      let standIns = PackageFiles.root.appending(path: "Tests/AppleStandIns").path
      for module in ["Network", "BackgroundTasks"] {
        try swiftc([
          "-emit-module", "-parse-as-library", "-module-name", module, "-emit-module-path",
          folder.appending(path: "\(module).swiftmodule").path, "\(standIns)/\(module).swift",
        ])
      }
      // The modules of the package are built with this test.
      let runner = try #require(Bundle.main.executableURL).resolvingSymlinksInPath()
      let built = runner.deletingLastPathComponent().appending(path: "Modules")
      let sources = try PackageFiles.swiftFiles(in: ["Sources"]).filter { $0.target == "AppleAdapters" }
      #expect(sources.count > 2)
      try swiftc(
        [
          "-typecheck", "-warnings-as-errors", "-module-name", "AppleAdapters", "-I", folder.path, "-I",
          built.path,
        ]
          + sources.map { PackageFiles.root.appending(path: $0.path).path })
    }
  #endif

  private func swiftc(_ arguments: [String]) throws {
    let (status, output) = try ChildProcess.run(
      ["swiftc", "-swift-version", "6"] + Self.features + arguments, withErrors: true)
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
