/// Separates Swift source into code, comments and string literals.
struct CodeMask {
  /// The kind of a byte of source.
  enum Part {
    case code, comment, string
  }

  private let bytes: [UInt8]
  private var parts: [Part] = []
  private var offset = 0

  /// The source with everything but code and newlines replaced by spaces.
  static func masked(_ source: String) -> String {
    CodeMask(source).keeping(.code)
  }

  /// Separates a source text.
  init(_ source: String) {
    bytes = Array(source.utf8)
    parts.reserveCapacity(bytes.count)
    passCode(until: nil)
  }

  /// The source with everything but one part and newlines replaced by spaces.
  func keeping(_ part: Part) -> String {
    let kept = zip(bytes, parts).map { byte, its in
      its == part || byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " ")
    }
    return String(decoding: kept, as: UTF8.self)
  }

  /// The pieces of string literals between interpolations, each with the line on which it begins.
  var literals: [(line: Int, text: String)] {
    var found: [(line: Int, text: String)] = []
    var (line, start) = (1, 0)
    for end in parts.indices where parts[end] != .string || end == parts.count - 1 {
      let last = parts[end] == .string ? end + 1 : end
      if start < last {
        let piece = bytes[start..<last]
        found.append((line, String(decoding: piece, as: UTF8.self)))
        line += piece.count { $0 == UInt8(ascii: "\n") }
      }
      if parts[end] != .string, bytes[end] == UInt8(ascii: "\n") { line += 1 }
      start = end + 1
    }
    return found
  }

  private func stands(_ text: String) -> Bool {
    // Most bytes begin nothing: one comparison is enough.
    bytes[offset] == text.utf8.first && bytes[offset...].starts(with: text.utf8)
  }

  private mutating func pass(_ count: Int = 1, as part: Part) {
    let end = min(offset + count, bytes.count)
    parts.append(contentsOf: repeatElement(part, count: end - offset))
    offset = end
  }

  /// Passes code, up to the parenthesis that ends an interpolation if there is one.
  private mutating func passCode(until close: UInt8?) {
    var depth = 0
    while offset < bytes.count {
      if stands("//") {
        let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        pass(end - offset, as: .comment)
      } else if stands("/*") {
        passComment()
      } else if let hashes = stringOpening() {
        passString(hashes: hashes)
      } else {
        if bytes[offset] == UInt8(ascii: "(") { depth += 1 }
        if bytes[offset] == UInt8(ascii: ")") {
          if depth == 0, close != nil { return pass(as: .string) }
          depth -= 1
        }
        pass(as: .code)
      }
    }
  }

  private mutating func passComment() {
    var depth = 0
    repeat {
      if stands("/*") {
        depth += 1
        pass(2, as: .comment)
      } else if stands("*/") {
        depth -= 1
        pass(2, as: .comment)
      } else {
        pass(as: .comment)
      }
    } while depth > 0 && offset < bytes.count
  }

  /// The number of hash marks before a string's opening quote; `nil` without a quote.
  private func stringOpening() -> Int? {
    guard bytes[offset] == UInt8(ascii: "#") || bytes[offset] == UInt8(ascii: "\"") else { return nil }
    let hashes = bytes[offset...].prefix { $0 == UInt8(ascii: "#") }.count
    let quote = offset + hashes
    return quote < bytes.count && bytes[quote] == UInt8(ascii: "\"") ? hashes : nil
  }

  private mutating func passString(hashes: Int) {
    let marks = String(repeating: "#", count: hashes)
    pass(hashes, as: .string)
    let quotes = stands("\"\"\"") ? "\"\"\"" : "\""
    pass(quotes.utf8.count, as: .string)
    let (end, interpolation) = (quotes + marks, "\\\(marks)(")
    while offset < bytes.count {
      if stands(end) { return pass(end.utf8.count, as: .string) }
      if stands(interpolation) {
        pass(hashes + 2, as: .string)
        passCode(until: UInt8(ascii: ")"))
      } else {
        pass(stands("\\") && hashes == 0 ? 2 : 1, as: .string)
      }
    }
  }
}
