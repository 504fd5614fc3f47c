import CanonicalSyncTestProcesses
import Foundation
import Testing

/// An app whose own targets have names that this package might have taken.
@Suite("The package in an app's graph", .timeLimit(.minutes(10)), .enabled(if: PackageFiles.haveRepository))
struct PackageGraphTests {
  @Test func leavesCommonNamesToTheApp() throws {
    let app = try App(targets: [
      "CCrypto", "CCurl", "CNetlink", "CPostgres", "CSQLite", "ScheduleKit", "TestExecutors", "TestPostgres",
      "TestServers", "ToolSupport", "simulate",
    ])
    let loading = try app.load()
    #expect(loading.status == 0, "\(loading.output)")
  }

  @Test func letsTheAppGiveItsModulesOtherNames() throws {
    let clash = try App(targets: ["SyncCore"]).load()
    #expect(clash.status != 0 && clash.output.contains("'SyncCore"), "\(clash.output)")
    let renamed = try App(targets: ["SyncCore"], aliases: ["SyncCore": "CanonicalSyncCore"]).load()
    #expect(renamed.status == 0 && !renamed.output.contains("warning: module alias"), "\(renamed.output)")
  }
}

/// A package outside that depends on this one, in a folder of its own.
private final class App {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")

  init(targets: [String], aliases: [String: String] = [:]) throws {
    let files = FileManager.default
    for target in targets + ["App"] {
      let sources = folder.appending(path: "App/Sources/\(target)")
      try files.createDirectory(at: sources, withIntermediateDirectories: true)
      try Data("public let name = 1\n".utf8).write(to: sources.appending(path: "Name.swift"))
    }
    // A package has the name of its folder.
    try files.createSymbolicLink(
      at: folder.appending(path: "CanonicalSync"), withDestinationURL: PackageFiles.root)
    let names = aliases.map { "\"\($0)\": \"\($1)\"" }.joined(separator: ", ")
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "App", platforms: [.macOS(.v15)], products: [.library(name: "App", targets: ["App"])],
        dependencies: [.package(path: "../CanonicalSync")],
        targets: [
          .target(
            name: "App",
            dependencies: [
              .product(
                name: "CanonicalSync", package: "CanonicalSync"\(aliases.isEmpty ? "" : ", moduleAliases: [\(names)]")),
              .product(name: "SQLiteAdapters", package: "CanonicalSync"),
              \(targets.map { "\"\($0)\"" }.joined(separator: ", ")),
            ]),
          \(targets.map { ".target(name: \"\($0)\")" }.joined(separator: ", ")),
        ])
      """
    try Data(manifest.utf8).write(to: folder.appending(path: "App/Package.swift"))
  }

  deinit {
    // The system removes any remaining files.
    try? FileManager.default.removeItem(at: folder)
  }

  /// Lets SwiftPM load the package graph.
  func load() throws -> (status: Int32, output: String) {
    let (status, output) = try ChildProcess.run(
      ["swift", "package", "--package-path", folder.appending(path: "App").path, "show-dependencies"],
      // These choose parts of this package.
      environment: ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CANONICALSYNC") },
      withErrors: true)
    return (status, String(decoding: output, as: UTF8.self))
  }
}
