import Foundation
import Testing

@Suite("The guides")
struct GuidesTests {
  @Test func nameFilesThatExist() throws {
    let guides = try PackageFiles.guides()
    let named = guides.flatMap { guide in guide.files.map { (guide: guide.path, file: $0) } }
    #expect(named.count > 30)
    let missing = named.filter { !PackageFiles.exists($0.file) }
    #expect(missing.isEmpty, "\(missing.map { "\($0.guide) names \($0.file)" }.joined(separator: "\n"))")
  }

  /// DocC checks the names in catalogues.
  @Test func nameDeclarationsThatExist() throws {
    let declarations = Declarations(in: try PackageFiles.swiftFiles(in: ["Sources", "Examples"]))
    let missing = try PackageFiles.guides().filter { !$0.path.contains(".docc/") }.flatMap { guide in
      guide.spans.filter { !declarations.cover($0) }.map { "\(guide.path) names \($0)" }
    }
    #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
  }

  /// The most files that a reader has to open for each way.
  @Test(arguments: [("The way of a pulled record", 25), ("The way of an edit", 10)])
  func tellAWayInFewFiles(_ heading: String, _ most: Int) throws {
    let guides = try PackageFiles.guides()
    let guide = try #require(guides.first { $0.path == "Docs/Architecture.md" })
    let files = try #require(guide.section(heading)).files
    #expect(files.count >= most / 2)
    #expect(Set(files).count <= most)
  }
}

@Suite("The rules of guides")
struct GuideRulesTests {
  private static let gate = Declarations(in: [
    SourceFile(
      path: "Sources/A/Gate.swift",
      text: """
        struct Gate {
          private func list(to ids: [Int]) {}
          func list(
            of ids: [Int], by order: (Int, Int) -> Bool, limit: Int = 3
          ) {}
          enum State { case open, shut }
        }
        """)
  ])

  @Test(arguments: [
    "Gate.list", "gate.list(of: [1])", "list(of:limit:)", "Gate.State.shut", "gate.list(of:by:limit:)",
    "Gate.swift", "gate.db", "a gate.list(to:)",
  ])
  func allowDeclaredNames(_ span: String) {
    #expect(Self.gate.cover(span[...]))
  }

  @Test(arguments: ["Gate.lists", "gate.lift()", "gate.list(to:)", "Gate.State.ajar", "list(limit:of:)"])
  func forbidOtherNames(_ span: String) {
    #expect(!Self.gate.cover(span[...]))
  }

  @Test func findSpans() {
    let text = "`A.b` and `c(d:)`\n```swift\n// `e`\n```\n| `f` |\n"
    #expect(Guide(path: "Docs/A.md", text: text).spans == ["A.b", "c(d:)", "f"])
  }

  @Test func findFilesAndSections() throws {
    let text = """
      `Sources/A/B.swift`, `SyncCore/C+D.swift` and `swift test`, `Sources/<Kind>Adapters/`, `Docs/E.md`
      ## One
      `Tests/*/F.swift` [G](G.md)
      ### Inner
      `Tests/H.swift`
      ## Two
      `Tests/I.swift`
      """
    let guide = Guide(path: "Docs/A.md", text: text)
    #expect(
      guide.files == [
        "Sources/A/B.swift", "SyncCore/C+D.swift", "Docs/E.md", "Tests/H.swift", "Tests/I.swift",
      ])
    #expect(try #require(guide.section("One")).files == ["Tests/H.swift"])
    #expect(guide.section("Three") == nil)
  }
}
