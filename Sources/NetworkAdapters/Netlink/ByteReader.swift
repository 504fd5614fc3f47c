/// Reads numbers from the kernel's messages.
///
/// A missing number reads as `nil`. No bytes make it trap.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  var count: Int { bytes.count }

  /// The bytes, copied.
  var array: [UInt8] { Array(bytes) }

  /// A number in the machine's byte order, which is the kernel's.
  func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
    guard let part = part(from: offset, count: Number.bitWidth / 8) else { return nil }
    var number: Number = 0
    for byte in part.bytes.reversed() { number = number << 8 | Number(truncatingIfNeeded: byte) }
    #if _endian(little)
      return number
    #else
      return number.byteSwapped
    #endif
  }

  /// A range of the bytes; `nil` if they are not all there.
  func part(from offset: Int, count: Int) -> ByteReader? {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
    let start = bytes.startIndex + offset
    return ByteReader(bytes[start..<start + count])
  }

  /// The bytes from an offset to the end; `nil` for an offset past the end.
  func rest(from offset: Int) -> ByteReader? {
    part(from: offset, count: bytes.count - offset)
  }
}
