import SyncJSON

/// An answer in which some bytes are no JSON, mended so that the rest of it can be read.
///
/// The mended text is as long as the original, so a place in one is a place in the other. Values that
/// were mended are not to be used.
struct MendedJSON {
  /// The text with all flaws replaced.
  private(set) var bytes: [UInt8]
  /// The first error of the original.
  let error: JSONError
  private var flaws: [Range<Int>] = []

  /// The most errors of the grammar that are mended, each by another pass over the text.
  private static let mostErrors = 100

  /// Mends a text with an error; `nil` if too much of it is no JSON.
  init?(_ original: [UInt8], after error: JSONError) {
    bytes = original
    self.error = error
    mendCharacters()
    for _ in 0...Self.mostErrors {
      do throws(JSONError) {
        try JSONScanner.validate(bytes[...], depthLimit: .max)
        return
      } catch {
        guard let object = object(around: error.offset) else { return nil }
        blank(object)
      }
    }
    return nil
  }

  /// Whether any mended byte is in a range.
  func isFlawed(_ range: Range<Int>) -> Bool { flaws.contains { $0.overlaps(range) } }

  private mutating func replace(_ range: Range<Int>, with byte: UInt8) {
    for index in range { bytes[index] = byte }
    flaws.append(range)
  }

  /// Replaces an object by null.
  private mutating func blank(_ range: Range<Int>) {
    replace(range, with: UInt8(ascii: " "))
    if range.count < 4 {
      bytes[range.lowerBound] = UInt8(ascii: "0")
    } else {
      bytes.replaceSubrange(range.lowerBound..<range.lowerBound + 4, with: "null".utf8)
    }
  }

  /// Mends what single bytes break: characters in strings, and words that stand for numbers.
  private mutating func mendCharacters() {
    var index = 0
    var isInString = false
    while index < bytes.count {
      let byte = bytes[index]
      if isInString {
        switch byte {
        case UInt8(ascii: "\\"): index += 1
        case UInt8(ascii: "\""): isInString = false
        case 0..<0x20: replace(index..<index + 1, with: UInt8(ascii: " "))
        case 0x80...:
          let length = Self.sequence(in: bytes, at: index)
          if length == 0 { replace(index..<index + 1, with: UInt8(ascii: "?")) }
          index += max(0, length - 1)
        default: break
        }
      } else if byte == UInt8(ascii: "\"") {
        isInString = true
      } else if let word = ["-Infinity", "Infinity", "NaN", "undefined"].first(where: {
        bytes[index...].starts(with: $0.utf8)
      }) {
        replace(index..<index + word.utf8.count, with: UInt8(ascii: " "))
        bytes[index] = UInt8(ascii: "0")
        index += word.utf8.count - 1
      }
      index += 1
    }
  }

  /// The length of the UTF-8 sequence at a place; 0 if there is none.
  private static func sequence(in bytes: [UInt8], at index: Int) -> Int {
    let length =
      switch bytes[index] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    guard length > 0, index + length <= bytes.count,
      String(validating: bytes[index..<index + length], as: UTF8.self) != nil
    else { return 0 }
    return length
  }

  /// The innermost object around a place, by its brackets outside of strings.
  private func object(around offset: Int) -> Range<Int>? {
    var (starts, index, isInString): ([Int], Int, Bool) = ([], 0, false)
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\") where isInString: index += 1
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "{") where !isInString: starts.append(index)
      case UInt8(ascii: "}") where !isInString:
        guard let start = starts.popLast() else { return nil }
        // The whole answer is no record.
        if index >= offset, start <= offset { return starts.isEmpty && start == 0 ? nil : start..<index + 1 }
      default: break
      }
      index += 1
    }
    return nil
  }
}
