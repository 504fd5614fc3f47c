import CanonicalSyncTestProcesses
import Foundation
import Testing

@Suite("The deliberate flaws")
struct MutantsTests {
  private static let folder = PackageFiles.root.appending(path: "Tests/Mutants")

  @Test(.enabled(if: haveGit, "git applies the patch, and is missing here"))
  func applyToTheSources() throws {
    let (status, output) = try Self.run([Self.folder.appending(path: "build").path, "check"])
    #expect(status == 0, "\(output)")
  }

  @Test func areAllBuiltIn() throws {
    let files = try PackageFiles.swiftFiles(in: ["Tests/Mutants"])
    let declaration = try #require(files.first { $0.name == "Mutant" && $0.text.contains("enum Mutant:") })
    let names = declaration.text.matches(of: #/\n  case ([^\n]*)/#)
      .flatMap { $0.1.split(separator: ", ") }
    #expect(names.count >= 50)
    let patch = try String(contentsOf: Self.folder.appending(path: "flaws.patch"), encoding: .utf8)
    let inserted = patch.split(separator: "\n").filter { $0.hasPrefix("+") }.joined(separator: "\n")
    let flawed = files.map(\.text).joined() + inserted
    let missing = names.filter { !flawed.contains("Mutant.\($0).isActive") }
    #expect(missing == [], "declared, but neither in flaws.patch nor in a file beside it")
  }

  private static var haveGit: Bool {
    (try? run(["git", "--version"]))?.status == 0
  }

  /// Runs a command, and returns what it printed.
  private static func run(_ command: [String]) throws -> (status: Int32, output: String) {
    let (status, output) = try ChildProcess.run(command, withErrors: true)
    return (status, String(decoding: output, as: UTF8.self))
  }
}
