/// The rules for comments and for texts for people, and the violations in a file.
enum Prose {
  /// The greatest width of a comment line.
  static let width = 100

  /// The most words of the first sentence of a declaration's documentation.
  static let longestSentence = 15

  /// Words that stand for a component without naming it.
  static let vagueWords: Set<String> = [
    "somebody", "nobody", "whoever", "everybody", "anybody", "wish", "wishes",
    "is told", "are told", "has its say",
  ]

  /// Such a word within a longer name.
  private static var vagueName: Regex<Substring> {
    #/\b(?:some|no|every|any)body[A-Z]\w*|\bwhoever[A-Z]\w*|\w*[a-z](?:Somebody|Nobody|Everybody|Anybody|Whoever|Wish)(?![a-z])\w*/#
  }

  /// A part of each such name, to look for first.
  private static let vagueParts = ["body", "hoever", "Wish"]

  /// Files that may use some of these words, with the reason.
  static let exceptions: [String: Set<String>] = [
    // The rule and its tests quote the words.
    "Tests/ArchitectureTests/Prose.swift": vagueWords,
    "Tests/ArchitectureTests/ProseTests.swift": vagueWords,
    "Tests/ArchitectureTests/GuidesTests.swift": vagueWords,
    // A sentence of the reference implementation's tests.
    "Tests/FileAdaptersTests/XXH64Tests.swift": ["nobody"],
  ]

  /// Consecutive comment lines of one kind, or the comment after code on one line.
  private struct Block {
    var line: Int
    var marker: Substring
    /// The lines without their markers and one space.
    var texts: [Substring]
  }

  /// All violations in a file.
  static func violations(in file: SourceFile) -> [Violation] {
    var found: [Violation] = []
    func report(_ line: Int, _ message: String) {
      found.append(Violation(path: file.path, line: line, message: message))
    }
    let (text, code, comments, mask) = file.layers
    for block in blocks(code, comments) {
      for offset in wideLines(block, text) {
        report(block.line + offset, "the comment is wider than \(width) columns")
      }
      if block.marker == "///", let sentence = firstSentence(of: block.texts) {
        let count = wordCount(sentence)
        if count > longestSentence {
          report(block.line, "the first sentence has \(count) words: \(sentence)")
        }
      }
      for word in vague(block.texts.joined(separator: " "), in: file) {
        report(block.line, "\"\(word)\": name the component")
      }
    }
    for (index, line) in code.enumerated() where vagueParts.contains(where: { line.contains($0) }) {
      for match in line.matches(of: vagueName) {
        report(index + 1, "\"\(match.output)\": name the component")
      }
    }
    for literal in mask.literals where literal.text.contains(" ") {
      for word in vague(literal.text, in: file) { report(literal.line, "\"\(word)\": name the component") }
    }
    return found.sorted { $0.line < $1.line }
  }

  // MARK: Blocks

  private static func blocks(_ code: [Substring], _ comments: [Substring]) -> [Block] {
    var blocks: [Block] = []
    var continues = false
    for (index, line) in comments.enumerated() {
      let comment = line.drop { $0 == " " }
      guard !comment.isEmpty else {
        continues = false
        continue
      }
      let isAlone = code[index].allSatisfy { $0 == " " }
      let marker = comment.hasPrefix("///") ? comment.prefix(3) : comment.prefix(2)
      let rest = comment.dropFirst(marker.count)
      let text = rest.first == " " ? rest.dropFirst() : rest
      if isAlone, continues, blocks[blocks.count - 1].marker == marker {
        blocks[blocks.count - 1].texts.append(text)
      } else {
        blocks.append(Block(line: index + 1, marker: marker, texts: [text]))
      }
      continues = isAlone
    }
    return blocks
  }

  /// The offsets of wide lines, without URLs, code fences and lines with code.
  private static func wideLines(_ block: Block, _ text: [Substring]) -> [Int] {
    var isFenced = false
    return block.texts.indices.filter { offset in
      let comment = block.texts[offset]
      if comment.drop(while: { $0 == " " }).hasPrefix("```") { isFenced.toggle() }
      let line = text[block.line - 1 + offset]
      return !isFenced && line.utf8.count > width && line.count > width
        && line.drop { $0 == " " }.hasPrefix("//") && !isURL(comment)
    }
  }

  private static func isURL(_ comment: Substring) -> Bool {
    let text = comment.drop { $0 == " " || $0 == "<" }
    return (text.hasPrefix("https://") || text.hasPrefix("http://")) && !text.contains(" ")
  }

  // MARK: Sentences

  /// The first sentence of the first paragraph, with each code span as one word.
  private static func firstSentence(of texts: [Substring]) -> Substring? {
    let paragraph = texts.prefix { text in
      !text.allSatisfy { $0 == " " } && !text.hasPrefix("```") && !text.hasPrefix("- ")
    }
    guard !paragraph.isEmpty else { return nil }
    var sentence = paragraph.joined(separator: " ")
    if sentence.contains("`") { sentence.replace(#/``[^`]+``|`[^`]+`/#, with: "`code`") }
    var previous: Character = " "
    for index in sentence.indices {
      if sentence[index] == " ", ".?:".contains(previous) { return sentence[..<index] }
      previous = sentence[index]
    }
    return sentence[...]
  }

  private static func wordCount(_ sentence: Substring) -> Int {
    sentence.split(separator: " ").count { word in word.contains { $0.isLetter || $0.isNumber } }
  }

  // MARK: Words

  /// The vague words of a text, apart from those that its file may use.
  private static func vague(_ text: String, in file: SourceFile) -> [String] {
    let allowed = exceptions[file.path] ?? []
    return vague(text).filter { !allowed.contains($0) }
  }

  /// The vague words of a text.
  static func vague(_ text: String) -> [String] {
    let words = text.lowercased().utf8.split { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
      .map { String(decoding: $0, as: UTF8.self) }
    var found: [String] = []
    for index in words.indices {
      for count in 1...3 where index + count <= words.count {
        let phrase = words[index..<index + count].joined(separator: " ")
        if vagueWords.contains(phrase) { found.append(phrase) }
      }
    }
    return found
  }
}
