#if SQLite
  import Foundation
  import Testing

  private let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/python3") }

  /// The site's page of the tools has what each tool prints of its own command line.
  @Suite(
    "The reference of the tools", .timeLimit(.minutes(10)),
    .enabled(if: hasPython, "python3 is missing"))
  struct ToolReferenceTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// The names of the tools, as the manifest has them.
    private static func tools() throws -> [String] {
      try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        .matches(of: #/\.executable\(name: "([^"]+)"/#).map { String($0.1) }
    }

    /// The page of the site, from the guide in Docs or from another text.
    private static func page(
      of tools: [String], _ text: String? = nil
    ) async throws -> (outcome: Tool.Outcome, page: String) {
      try await withFolder { folder in
        let page = folder.url.appending(path: "Tools.md")
        let guide = root.appending(path: "Docs/Tools.md")
        try (text ?? String(contentsOf: guide, encoding: .utf8)).write(
          to: page, atomically: true, encoding: .utf8)
        let binaries = Tool(name: "simulate").executable.deletingLastPathComponent()
        let outcome = try await RunningTool(
          executable: URL(filePath: "/usr/bin/env"),
          ["python3", root.appending(path: "Docs/Site/tools.py").path, binaries.path, page.path] + tools,
          in: nil
        ).outcome()
        return (outcome, try String(contentsOf: page, encoding: .utf8))
      }
    }

    @Test func hasTheHelpOfEveryToolAndCommand() async throws {
      let tools = try Self.tools()
      let (outcome, page) = try await Self.page(of: tools)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let found = page.matches(of: #/(?m)^##+ ([a-z -]+)\n(?:(?!^#|^```).*\n)*```text\n((?s:.*?))```$/#)
      let blocks = Dictionary(found.map { (String($0.1), String($0.2)) }) { first, _ in first }
      #expect(Set(tools).isSubset(of: blocks.keys))
      let commands = try #require(blocks["sync-inspect"]).matches(of: #/(?m)^  ([a-z]+)  +[A-Z]/#)
      #expect(commands.count > 10 && commands.allSatisfy { blocks["sync-inspect \($0.1)"] != nil })
      for (heading, text) in blocks {
        let words = heading.split(separator: " ").map(String.init)
        let help = try await Tool(name: words[0]).start(Array(words.dropFirst()) + ["--help"]).outcome()
        #expect(help.output == text, "\(heading)")
      }
      // What follows a section stays.
      #expect(page.contains("\n```\n\n## sync-mirror\n") && page.hasSuffix("when something is wrong.\n"))
    }

    @Test func saysWhichToolIsMissing() async throws {
      #expect(
        try await Self.page(of: ["simulate"], "# Tools\n").outcome.errors.contains("no section for simulate"))
      let unknown = try await Self.page(of: ["nothing"], "# Tools\n\n## nothing\n")
      #expect(unknown.outcome.status == 1 && unknown.outcome.errors.contains("prints no help"))
      #expect(unknown.page == "# Tools\n\n## nothing\n")
    }
  }
#endif
