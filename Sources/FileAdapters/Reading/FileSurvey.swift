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
