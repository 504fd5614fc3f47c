/// A buffer that assembles a name from words and numbers.
///
/// Every edit that is sent has such a name. Appending the parts to a string takes three times as
/// long.
struct NameBytes {
  private var bytes: [UInt8] = []

  init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// The text so far.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ word: String) {
    bytes.append(contentsOf: word.utf8)
  }

  /// Appends an ASCII character.
  mutating func append(mark: Unicode.Scalar) {
    bytes.append(UInt8(truncatingIfNeeded: mark.value))
  }

  /// Appends the decimal digits of a number.
  mutating func append(_ number: Int64) {
    if number < 0 { append(mark: "-") }
    let start = bytes.count
    var rest = number.magnitude
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    // The digits were written last digit first.
    var (first, last) = (start, bytes.count - 1)
    while first < last {
      bytes.swapAt(first, last)
      first += 1
      last -= 1
    }
  }
}
