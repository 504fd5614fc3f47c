import Testing

@Suite("The prose")
struct ProseTests {
  @Test func isPlain() throws {
    let files = try PackageFiles.swiftFiles(in: ["Sources", "Tests", "Examples"])
    let violations = files.flatMap(Prose.violations)
    #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
  }

  @Test func hasTheFilesThatExceptionsAreMadeFor() throws {
    let paths = try PackageFiles.swiftFiles(in: ["Sources", "Tests", "Examples"]).map(\.path)
    #expect(Set(Prose.exceptions.keys).isSubset(of: paths))
  }
}

@Suite("The rules of prose")
struct ProseRulesTests {
  private func complaints(_ text: String, in path: String = "Sources/SyncCore/A.swift") -> [String] {
    Prose.violations(in: SourceFile(path: path, text: text)).map(\.message)
  }

  /// A text of short words.
  private static func words(_ count: Int) -> String {
    Array(repeating: "a", count: count).joined(separator: " ")
  }

  /// A text without spaces.
  private static func run(_ count: Int) -> String { String(repeating: "a", count: count) }

  @Test(
    arguments: [
      "/// \(words(16)).",
      "/// \(words(8))\n  /// \(words(8))\nlet a = 1",
      "let a = 1\n  /// \(words(14)) `a b`, ``a(_:)``: b.",
      "/// \(words(8)).\(words(9))\n///\n/// A.",
      "/// \(words(8)),\n/// \(words(8))\n/// - Parameter a: B.",
    ])
  func forbidALongFirstSentence(_ text: String) {
    let message = complaints(text).first ?? ""
    #expect(message.hasPrefix("the first sentence has 1"))
  }

  @Test(
    arguments: [
      "/// \(words(15)).",
      "/// \(words(9)): \(words(9)).",
      "/// A? \(words(16)).",
      "/// A.\n/// \(words(16)).",
      "/// A\n///\n/// \(words(16)).",
      "/// \(words(14)) `a b c d`.",
      "/// \(words(14)) ``a(_:b:)`` –",
      "/// - Parameter a: \(words(16)).",
      "// \(words(16)).",
      "let a = \"/// \(words(16)).\"",
    ])
  func allowAShortFirstSentence(_ text: String) {
    #expect(complaints(text) == [])
  }

  @Test(
    arguments: [
      "// \(run(98))",
      "  /// A.\n  ///\n  /// \(run(95))",
      "/// ```\n/// \(run(98))\n/// ```\n/// \(run(98))",
      "// https://example.com/\(run(90)) and more",
    ])
  func forbidAWideComment(_ text: String) {
    #expect(complaints(text) == ["the comment is wider than 100 columns"])
  }

  @Test(
    arguments: [
      "// \(run(97))",
      "// \(String(repeating: "ä", count: 97))",
      "/// A.\n///\n/// ```swift\n/// \(run(98))\n/// ```",
      "// https://example.com/\(run(90))",
      "let \(run(90)) = 1  // The comment of wide code.",
    ])
  func allowANarrowComment(_ text: String) {
    #expect(complaints(text) == [])
  }

  @Test(
    arguments: [
      ("/// Nobody calls it.", "nobody"),
      ("// The caller is\n// told of it.", "is told"),
      ("let a = 1  // Somebody's.", "somebody"),
      ("/* Whoever. */", "whoever"),
      ("let text = \"Anybody: \\(name).\"", "anybody"),
      ("let text = \"\"\"\n  A text\n  for everybody.\n  \"\"\"", "everybody"),
      ("let text = \"\\(isFull ? \"one wish\" : \"two\")\"", "wish"),
      ("let text = \"\\(name) has its say\"", "has its say"),
    ])
  func forbidAVagueWord(_ text: String, _ word: String) {
    #expect(complaints(text) == ["\"\(word)\": name the component"])
  }

  @Test(
    arguments: [
      "let nobody = \"nobody\"",
      "let address = \"http://nobody.invalid/\"",
      "let text = \"A b \\(everybody.count) c\"",
      "// A wishful thought, told of nobodies.",
    ])
  func allowOtherWords(_ text: String) {
    #expect(complaints(text) == [])
  }

  @Test(
    arguments: [
      ("  @Test func holdsNobodyUp() {}", "holdsNobodyUp"), ("final class LateWish {}", "LateWish"),
      ("let whoeverComes = 1", "whoeverComes"), ("func nobodyCalls()", "nobodyCalls"),
    ])
  func forbidAVagueName(_ text: String, _ name: String) {
    #expect(complaints(text) == ["\"\(name)\": name the component"])
  }

  @Test(arguments: [
    "let a = CURLOPT_NOBODY", "func takesOneRequestAndNoBody()", "let aWishfulName = 1", "let wishes = 2",
  ])
  func allowOtherNames(_ text: String) {
    #expect(complaints(text) == [])
  }

  @Test func sayWhere() {
    let text = "/// A.\nlet a = 1\n  /// A name,\n  /// as everybody uses.\nlet b = \"no wishes, a\""
    let violations = Prose.violations(in: SourceFile(path: "Tests/A.swift", text: text))
    #expect(
      violations.map(\.description) == [
        "Tests/A.swift:3: \"everybody\": name the component",
        "Tests/A.swift:5: \"wishes\": name the component",
      ])
  }

  @Test func makeExceptions() {
    let text = "let text = \"Nobody inspects a wish\""
    #expect(
      complaints(text, in: "Tests/FileAdaptersTests/XXH64Tests.swift") == ["\"wish\": name the component"])
  }
}
