/// Blanks comments and string literals out of Swift source, so that only code is left where it was.
struct CodeMask {
  private let bytes: [UInt8]
  private var output: [UInt8] = []
  private var offset = 0

  /// The source with everything but code and newlines replaced by spaces.
  static func masked(_ source: String) -> String {
    var mask = CodeMask(bytes: Array(source.utf8))
    mask.passCode(until: nil)
    return String(decoding: mask.output, as: UTF8.self)
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
    output.reserveCapacity(bytes.count)
  }

  private func stands(_ text: String) -> Bool {
    // Most bytes begin nothing: one comparison tells.
    bytes[offset] == text.utf8.first && bytes[offset...].starts(with: text.utf8)
  }

  private mutating func blank(_ count: Int) {
    for byte in bytes[offset..<min(offset + count, bytes.count)] {
      output.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
    }
    offset = min(offset + count, bytes.count)
  }

  private mutating func pass() {
    output.append(bytes[offset])
    offset += 1
  }

  /// Passes code, up to the parenthesis that ends an interpolation where there is one.
  private mutating func passCode(until close: UInt8?) {
    var depth = 0
    while offset < bytes.count {
      if stands("//") {
        blank((bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count) - offset)
      } else if stands("/*") {
        blankComment()
      } else if let hashes = stringOpening() {
        blankString(hashes: hashes)
      } else {
        if bytes[offset] == UInt8(ascii: "(") { depth += 1 }
        if bytes[offset] == UInt8(ascii: ")") {
          if depth == 0, close != nil { return blank(1) }
          depth -= 1
        }
        pass()
      }
    }
  }

  private mutating func blankComment() {
    var depth = 0
    repeat {
      if stands("/*") {
        depth += 1
        blank(2)
      } else if stands("*/") {
        depth -= 1
        blank(2)
      } else {
        blank(1)
      }
    } while depth > 0 && offset < bytes.count
  }

  /// How many hash marks stand before the quote that opens a string here; `nil` if none opens.
  private func stringOpening() -> Int? {
    guard bytes[offset] == UInt8(ascii: "#") || bytes[offset] == UInt8(ascii: "\"") else { return nil }
    let hashes = bytes[offset...].prefix { $0 == UInt8(ascii: "#") }.count
    let quote = offset + hashes
    return quote < bytes.count && bytes[quote] == UInt8(ascii: "\"") ? hashes : nil
  }

  private mutating func blankString(hashes: Int) {
    let marks = String(repeating: "#", count: hashes)
    blank(hashes)
    let quotes = stands("\"\"\"") ? "\"\"\"" : "\""
    blank(quotes.utf8.count)
    let (end, interpolation) = (quotes + marks, "\\\(marks)(")
    while offset < bytes.count {
      if stands(end) { return blank(end.utf8.count) }
      if stands(interpolation) {
        blank(hashes + 2)
        passCode(until: UInt8(ascii: ")"))
      } else {
        blank(stands("\\") && hashes == 0 ? 2 : 1)
      }
    }
  }
}
