import SyncModels

/// A name for a file's content, made of nothing but the content.
struct ContentName: Hashable, Sendable {
  let text: String

  /// Names bytes by their digest and number.
  init(digest: XXH64, length: Int) {
    let hex = String(digest.value, radix: 16)
    text = "xxh64:" + String(repeating: "0", count: 16 - hex.count) + hex + ":\(length)"
  }

  /// Takes a name back out of a token.
  init(text: String) {
    self.text = text
  }

  /// The name of no file at all, which an empty file does not have.
  static let absent = ContentName(text: "absent")
  /// The name of an empty file's content.
  static let empty = ContentName(digest: XXH64(), length: 0)

  /// The name as the token that a next delta starts from.
  var token: SyncToken { SyncToken(text) }
}

/// A place between two lines of a file with a certain content.
struct FilePosition: Hashable, Sendable {
  /// The content that the place is in.
  var content: ContentName
  /// How many bytes come before it.
  var offset: Int
  /// How many lines come before it, blank ones included.
  var line: Int

  /// The place as a page token.
  var token: PageToken { PageToken("\(offset) \(line) \(content.text)") }
}

extension FilePosition {
  /// Reads a page token; `nil` for one that this source never gave.
  init?(_ token: PageToken) {
    let parts = token.rawValue.split(separator: " ", omittingEmptySubsequences: false)
    // A line takes a byte at least.
    guard parts.count == 3, let offset = Int(parts[0]), let line = Int(parts[1]), offset >= 0,
      (0...offset).contains(line)
    else { return nil }
    self.init(content: ContentName(text: String(parts[2])), offset: offset, line: line)
  }
}
