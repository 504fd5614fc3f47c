#if SQLite
  import Foundation
  import Testing

  /// Docs/Tools.md shows what each tool prints of its own command line.
  @Suite("The reference of the tools", .timeLimit(.minutes(10)))
  struct ToolReferenceTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func page() throws -> String {
      try String(contentsOf: root.appending(path: "Docs/Tools.md"), encoding: .utf8)
    }

    /// The blocks of the page, by their headings.
    private static func blocks() throws -> [String: String] {
      let found = try page().matches(of: #/(?m)^##+ ([a-z -]+)\n(?:(?!^#|^```).*\n)*```text\n((?s:.*?))```$/#)
      return Dictionary(found.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }

    /// The names of the tools, as the manifest has them.
    private static func tools() throws -> [String] {
      try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        .matches(of: #/\.executable\(name: "([^"]+)"/#).map { String($0.1) }
    }

    @Test func showsTheHelpOfEveryToolAndCommand() async throws {
      let blocks = try Self.blocks()
      #expect(blocks.count > 15)
      #expect(Set(try Self.tools()).isSubset(of: blocks.keys))
      for (heading, text) in blocks {
        let words = heading.split(separator: " ").map(String.init)
        let outcome = try await Tool(name: words[0]).start(Array(words.dropFirst()) + ["--help"]).outcome()
        #expect(outcome.output == text, "Docs/Tools.md has another help of \(heading)")
      }
    }

    @Test func showsTheCommandsThatTheHelpNames() throws {
      let blocks = try Self.blocks()
      let help = try #require(blocks["sync-inspect"])
      let commands = help.matches(of: #/(?m)^  ([a-z]+)  +[A-Z]/#).map { "sync-inspect \($0.1)" }
      #expect(commands.count > 10)
      #expect(commands.allSatisfy { blocks[$0] != nil })
    }
  }
#endif
