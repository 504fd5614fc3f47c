import Foundation
import Testing

/// The guides' code is equal to the code of compiled files, line by line.
@Suite("Documented code")
struct DocumentedCodeTests {
  @Test(arguments: [
    ("README.md", ["ReadmeExample.swift"]), ("Docs/README.md", ["FrontPageExample.swift"]),
    ("Docs/ComingFromApple.md", ["AppleExample.swift"]),
    ("Docs/FirstApp.md", ["AppExample.swift", "AppExampleTests.swift"]),
    (
      "Docs/WritingASource.md",
      ["SourceExample.swift", "SinkExample.swift", "SourceExampleTests.swift"]
    ),
    (
      "Docs/WritingAStore.md",
      ["JSONFileStore.swift", "JSONFileStore+State.swift", "StoreExampleTests.swift"]
    ),
    ("Docs/MirroringKinto.md", ["TransportExample.swift"]),
    ("Docs/MirroringAnAPI.md", ["APIExample.swift"]),
    ("Docs/MirroringCloudKit.md", ["CloudKitExample.swift"]),
    ("Docs/LocalEdits.md", ["EditsExample.swift"]), ("Docs/ChangingModels.md", ["ModelExample.swift"]),
    ("Docs/DamagedStores.md", ["DamageExample.swift"]),
    ("Docs/Observing.md", ["ObserversExample.swift"]),
    ("Sources/CanonicalSync/CanonicalSync.docc/SyncObserver.md", ["ObserversExample.swift"]),
    ("Sources/SyncObservation/SyncObservation.docc/SyncObservation.md", ["AppleExample.swift"]),
    ("Docs/ManyStores.md", ["TenantsExample.swift"]),
    ("Docs/Testing.md", ["../../SyncSimulationTests/WorldExample.swift"]),
    ("Sources/CanonicalSync/CanonicalSync.docc/CanonicalSync.md", ["ReadmeExample.swift"]),
    ("Sources/SQLiteAdapters/SQLiteAdapters.docc/SQLiteAdapters.md", ["ReadmeExample.swift"]),
    ("Sources/CurlAdapters/CurlAdapters.docc/CurlAdapters.md", ["TransportExample.swift"]),
    ("Sources/HTTPAdapters/HTTPAdapters.docc/HTTPAdapters.md", ["TransportExample.swift"]),
    ("Sources/InMemoryAdapters/InMemoryAdapters.docc/InMemoryAdapters.md", ["ProductPagesExample.swift"]),
    (
      "Sources/SyncConformance/SyncConformance.docc/SyncConformance.md",
      ["ProductPagesExample.swift", "SourceExampleTests.swift"]
    ),
    ("Sources/SyncMaintenance/SyncMaintenance.docc/SyncMaintenance.md", ["DamageExample.swift"]),
    ("Sources/SyncSimulation/SyncSimulation.docc/SyncSimulation.md", ["ProductPagesExample.swift"]),
  ])
  func isCompiled(_ guide: String, _ sources: [String]) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let root = folder.appending(path: "../../..").standardized
    let compiled = Set(try sources.flatMap { try lines(of: folder.appending(path: $0)) })
    let blocks = try Self.blocks(of: String(contentsOf: root.appending(path: guide), encoding: .utf8))
    #expect(!blocks.isEmpty)
    for line in blocks.flatMap(\.self) where !compiled.contains(line) {
      Issue.record("\(guide) shows a line that \(sources) do not have: \(line)")
    }
  }

  @Test func isFoundInItsBlocksAlone() {
    let text = "a\n```swift\nlet x = 1\n\n```\n```sh\nls\n```\n```swift\n.package(url: \"u\")\n```\n"
    #expect(Self.blocks(of: text) == [["let x = 1"]])
  }

  private func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The Swift blocks of a guide, without empty lines and without manifest code.
  private static func blocks(of text: String) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in text.components(separatedBy: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      if line == "```swift" {
        block = []
      } else if line == "```" {
        if let block, block.first?.hasPrefix(".package(") == false { blocks.append(block) }
        block = nil
      } else if !line.isEmpty {
        block?.append(line)
      }
    }
    return blocks
  }
}
