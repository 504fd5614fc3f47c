import Foundation
import Testing

@Suite("The package")
struct ArchitectureTests {
  private static let directories = ["Sources", "Tests", "Examples"]

  @Test func isAsItWasDesigned() throws {
    let violations = try PackageFiles.swiftFiles(in: Self.directories).flatMap(Rules.violations)
    #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
  }

  @Test func hasNoTargetThatTheDesignLacks() throws {
    // A module map has no imports to check.
    let targets = try PackageFiles.folders(in: "Sources").filter { !Rules.systemLibraries.contains($0) }
    #expect(Set(targets) == Set(Rules.imports.keys))
  }

  @Test(.enabled(if: PackageFiles.haveRepository)) func hasNothingElseAtItsTop() throws {
    let designed = Self.directories + ["Docs", "LICENSE", "Package.swift", "README.md"]
    #expect(try PackageFiles.topLevel() == Set(designed))
  }

  @Test func leavesCommonNamesOfTargetsToApps() throws {
    let manifest = try String(
      contentsOf: PackageFiles.root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(Rules.commonNames(inManifest: manifest) == [])
  }

  /// The index builds the documentation with the default traits.
  ///
  /// Two targets are empty under these, and two have no public declaration.
  @Test func hasEachTargetInTheIndexsDocumentation() throws {
    let file = try String(contentsOf: PackageFiles.root.appending(path: ".spi.yml"), encoding: .utf8)
    let lines = file.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.prefix(4) == ["version: 1", "builder:", "configs:", "- documentation_targets:"])
    let targets = lines.dropFirst(4).map { String($0.trimmingPrefix("- ")) }
    let empty: Set<String> = [
      "CanonicalSyncDatabases", "CanonicalSyncPages", "CloudKitAdapters", "PostgresAdapters",
    ]
    #expect(targets.sorted() == Rules.imports.keys.filter { !empty.contains($0) }.sorted())
  }

  @Test func hasTheFilesThatExceptionsAreMadeFor() throws {
    let paths = try PackageFiles.swiftFiles(in: ["Sources"]).map(\.path)
    #expect(Set(Rules.exceptions.keys).isSubset(of: paths))
  }
}
