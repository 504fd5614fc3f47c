/// Counts nonblank lines, in bytes that come in portions.
struct LineCounter: Sendable {
  /// The number of nonblank lines that have begun.
  private(set) var lines = 0
  private var isInLine = false

  /// Adds bytes.
  mutating func count(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    while offset < bytes.count {
      if isInLine {
        guard let end = bytes.firstNewline(from: offset) else { return }
        isInLine = false
        offset = end + 1
      } else if bytes[offset] == UInt8(ascii: "\n") || bytes[offset].isBlank {
        offset += 1
      } else {
        isInLine = true
        lines += 1
      }
    }
  }
}
