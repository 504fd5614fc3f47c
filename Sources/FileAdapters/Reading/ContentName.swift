import SyncModels

/// A name for a file's content, derived from the content alone.
struct ContentName: Hashable, Sendable {
  let text: String

  /// Creates a name from the digest and the number of bytes.
  init(digest: XXH64, length: Int) {
    let hex = String(digest.value, radix: 16)
    text = "xxh64:" + String(repeating: "0", count: 16 - hex.count) + hex + ":\(length)"
  }

  /// Creates a name from a token's text.
  init(text: String) {
    self.text = text
  }

  /// The name for a missing file. An empty file has another name.
  static let absent = ContentName(text: "absent")
  /// The name of an empty file's content.
  static let empty = ContentName(digest: XXH64(), length: 0)

  /// The name as the token of the next delta.
  var token: SyncToken { SyncToken(text) }
}

/// A position between two lines of a file with known content.
struct FilePosition: Hashable, Sendable {
  /// The name of the content.
  var content: ContentName
  /// The number of bytes before it.
  var offset: Int
  /// The number of lines before it, blank ones included.
  var line: Int

  /// The position as a page token.
  var token: PageToken { PageToken("\(offset) \(line) \(content.text)") }
}

extension FilePosition {
  /// Parses a page token; `nil` for one that is not this source's.
  init?(_ token: PageToken) {
    let parts = token.rawValue.split(separator: " ", omittingEmptySubsequences: false)
    // A line takes at least one byte.
    guard parts.count == 3, let offset = Int(parts[0]), let line = Int(parts[1]), offset >= 0,
      (0...offset).contains(line)
    else { return nil }
    self.init(content: ContentName(text: String(parts[2])), offset: offset, line: line)
  }
}
