/// The declarations in Swift files, which the code spans of guides may name.
struct Declarations {
  /// The names of types, members, functions and cases.
  private var names: Set<String> = []
  /// The lines from each function's declaration on, private ones excepted, by name.
  private var functions: [String: [ArraySlice<Substring>]] = [:]

  private static let keywords: Set<String> = [
    "actor", "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
  ]
  private static let fileExtensions: Set<Substring> = ["json", "md", "swift"]
  /// The most lines of a function's parameters.
  private static let longestList = 20

  init(in files: [SourceFile]) {
    for file in files {
      let code = file.code
      for (index, line) in code.enumerated() {
        let words = Self.words(of: line)
        if words.contains("case") { names.formUnion(words) }
        for (keyword, name) in zip(words, words.dropFirst()) where Self.keywords.contains(keyword) {
          names.insert(name)
          if keyword == "func", !words.contains(where: { $0.hasSuffix("private") }) {
            functions[name, default: []].append(code[index...])
          }
        }
      }
    }
  }

  /// Whether a code span names nothing of Swift, or what a file declares.
  ///
  /// It looks at the forms `Type.member`, `value.member(…)` and `member(label:)`.
  func cover(_ span: Substring) -> Bool {
    if let match = span.wholeMatch(of: #/((?:\w+\.)+(\w+))(\(.*\))?/#),
      match.3 != nil || span.first?.isUppercase == true, !Self.fileExtensions.contains(match.2)
    {
      let members = match.1.split(separator: ".").dropFirst()
      if !members.allSatisfy({ names.contains(String($0)) }) { return false }
    }
    guard let match = span.wholeMatch(of: #/(?:\w+\.)*(\w+)\(((?:\w+:)+)\)/#) else { return true }
    let (name, labels) = (String(match.1), match.2.split(separator: ":"))
    return functions[name, default: []].contains { code in
      // Labels may be left out where parameters have defaults.
      var rest = Self.labels(of: name, in: code)[...]
      return labels.allSatisfy { label in
        rest = rest.drop { $0 != label }
        return rest.popFirst() != nil
      }
    }
  }

  private static func words(of line: Substring) -> [String] {
    line.utf8.split { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        false
      default: true
      }
    }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The argument labels of the function that the first line of some code declares.
  private static func labels(of name: String, in code: ArraySlice<Substring>) -> [Substring] {
    let text = code.prefix(longestList).joined(separator: " ")
    guard let start = text.firstRange(of: "func \(name)")?.upperBound else { return [] }
    var (depth, parameters) = (0, [""])
    for character in text[start...].drop(while: { $0 != "(" }) {
      if "([".contains(character) { depth += 1 }
      if ")]".contains(character) { depth -= 1 }
      if depth == 0 { break }
      if depth == 1, character == "," {
        parameters.append("")
      } else if depth > 1 || character != "(" {
        parameters[parameters.count - 1].append(character)
      }
    }
    return parameters.compactMap { parameter in
      parameter.split(separator: " ").first.map { $0.prefix { $0 != ":" } }
    }
  }
}
