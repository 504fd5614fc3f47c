import Foundation
import Testing

/// What an import shows. A door that grows is a decision, which this test makes visible.
@Suite("The doors")
struct DoorTests {
  private static let modules = ["SyncCore", "SyncModels", "SyncPorts"]

  private static func publicTypes(of module: String) throws -> Set<String> {
    let declaration = #/(?m)^public (?:final |indirect )*(?:struct|class|enum|protocol|typealias) (\w+)/#
    let files = try PackageFiles.swiftFiles(in: ["Sources"]).filter { $0.target == module }
    return Set(files.flatMap { $0.text.matches(of: declaration).map { String($0.1) } })
  }

  /// The declarations that `import CanonicalSync` shows, as module and name.
  private static func exported() throws -> [String] {
    let door = PackageFiles.root.appending(path: "Sources/CanonicalSync/CanonicalSync.swift")
    let text = try String(contentsOf: door, encoding: .utf8)
    return text.matches(of: #/(?m)^@_exported public import \w+ (\w+\.\w+)$/#).map { String($0.1) }
  }

  @Test func showAnAppAtMost106Types() throws {
    let exported = try Self.exported()
    #expect(exported.count > 40 && exported.count <= 106, "\(exported.count)")
    #expect(exported == exported.sorted())
  }

  @Test func showTheAuthorOfAnAdapterAtMost106Types() throws {
    let count = try ["SyncJSON", "SyncModels", "SyncPorts"].map { try Self.publicTypes(of: $0).count }.reduce(
      0, +)
    #expect(count > 60 && count <= 106, "\(count)")
  }

  /// What the engine declares for the public is for apps.
  @Test func hideNothingOfTheEngineFromApps() throws {
    let shown = Set(
      try Self.exported().compactMap { $0.hasPrefix("SyncCore.") ? String($0.dropFirst(9)) : nil })
    let hidden = try Self.publicTypes(of: "SyncCore").subtracting(shown)
    #expect(hidden == [])
  }

  @Test func nameNoTypeTwice() throws {
    var homes: [String: [String]] = [:]
    for module in try PackageFiles.folders(in: "Sources") {
      for type in try Self.publicTypes(of: module) { homes[type, default: []].append(module) }
    }
    #expect(homes.filter { $0.value.count > 1 } == [:])
  }
}
