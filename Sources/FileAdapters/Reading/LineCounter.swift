#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

extension UnsafeRawBufferPointer {
  /// The offset of the first newline at or after an offset.
  func firstNewline(from start: Int) -> Int? {
    // The C library's search compares many bytes at once.
    guard start < count, let base = baseAddress,
      let found = memchr(base + start, CInt(UInt8(ascii: "\n")), count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }
}

extension UInt8 {
  /// Whether a blank line may contain the byte.
  var isBlank: Bool {
    self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
  }
}

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
