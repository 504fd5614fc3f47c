/// Separates the code of Swift source from its comments and string literals.
struct CodeMask {
  private let bytes: [UInt8]
  private var masked: [UInt8] = []
  private var offset = 0

  /// The source with everything but code and newlines replaced by spaces.
  static func masked(_ source: String) -> String {
    String(decoding: CodeMask(source).masked, as: UTF8.self)
  }

  private init(_ source: String) {
    bytes = Array(source.utf8)
    masked.reserveCapacity(bytes.count)
    passCode(until: nil)
  }

  private func stands(_ text: String) -> Bool {
    // Most bytes begin nothing: one comparison is enough.
    bytes[offset] == text.utf8.first && bytes[offset...].starts(with: text.utf8)
  }

  private mutating func pass(_ count: Int = 1, isCode: Bool = false) {
    let end = min(offset + count, bytes.count)
    for byte in bytes[offset..<end] {
      masked.append(isCode || byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
    }
    offset = end
  }

  /// Passes code, up to the parenthesis that ends an interpolation if there is one.
  private mutating func passCode(until close: UInt8?) {
    var depth = 0
    while offset < bytes.count {
      if stands("//") {
        let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        pass(end - offset)
      } else if stands("/*") {
        passComment()
      } else if let hashes = stringOpening() {
        passString(hashes: hashes)
      } else {
        if bytes[offset] == UInt8(ascii: "(") { depth += 1 }
        if bytes[offset] == UInt8(ascii: ")") {
          if depth == 0, close != nil { return pass() }
          depth -= 1
        }
        pass(isCode: true)
      }
    }
  }

  private mutating func passComment() {
    var depth = 0
    repeat {
      if stands("/*") {
        depth += 1
        pass(2)
      } else if stands("*/") {
        depth -= 1
        pass(2)
      } else {
        pass()
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
    pass(hashes)
    let quotes = stands("\"\"\"") ? "\"\"\"" : "\""
    pass(quotes.utf8.count)
    let (end, interpolation) = (quotes + marks, "\\\(marks)(")
    while offset < bytes.count {
      if stands(end) { return pass(end.utf8.count) }
      if stands(interpolation) {
        pass(hashes + 2)
        passCode(until: UInt8(ascii: ")"))
      } else {
        pass(stands("\\") && hashes == 0 ? 2 : 1)
      }
    }
  }
}
