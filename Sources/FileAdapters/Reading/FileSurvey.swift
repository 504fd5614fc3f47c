import SyncModels

/// The result of one pass over all bytes of a file.
struct FileSurvey: Sendable {
  /// The name of the content. Equal bytes have equal names, different bytes different ones.
  var content: ContentName
  /// The number of bytes.
  var length: Int
  /// The number of nonblank lines.
  var lines: Int
  /// Whether the file begins with a UTF-8 byte order mark, as some editors write it.
  var hasByteOrderMark: Bool
  /// The digest of the bytes before the requested offset; `nil` past the file's end.
  var prefix: XXH64?

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let blockSize = 1 << 20

  /// Reads a file from its beginning to its end.
  ///
  /// - Parameter offset: The offset up to which ``prefix`` is digested.
  init(of file: FileDescriptor, prefixUpTo offset: Int) throws(FileDescriptor.Failure) {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 8)
    defer { block.deallocate() }
    var digest = XXH64()
    var counter = LineCounter()
    length = 0
    hasByteOrderMark = false
    prefix = offset == 0 ? digest : nil
    while true {
      let count = try file.read(into: block, at: length)
      guard count > 0 else { break }
      let bytes = UnsafeRawBufferPointer(rebasing: block[..<count])
      if length == 0 { hasByteOrderMark = bytes.starts(with: Self.byteOrderMark) }
      counter.count(
        UnsafeRawBufferPointer(rebasing: bytes[(length == 0 && hasByteOrderMark ? 3 : 0)...]))
      if length < offset, offset <= length + count {
        digest.update(UnsafeRawBufferPointer(rebasing: bytes[..<(offset - length)]))
        prefix = digest
        digest.update(UnsafeRawBufferPointer(rebasing: bytes[(offset - length)...]))
      } else {
        digest.update(bytes)
      }
      length += count
    }
    lines = counter.lines
    content = ContentName(digest: digest, length: length)
  }
}

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
