/// What numbers that are stored, or received, and calculated with may be.
///
/// A damaged store, or a remote, may say any. What goes past these bounds is refused, or passed over, where it is read, so that nothing behind that has to
/// fear an overflow: a store in use for a thousand years does not come near them, and a thousand such numbers can be added.
package enum StoredNumbers {
  /// Numbers of records, passes, epochs and attempts.
  package static let counts: ClosedRange<Int64> = 0...(1 << 53)
}

extension KeyedDecodingContainer {
  /// A number of things.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for one that no honest count comes to.
  package func decodeCount<Number: FixedWidthInteger & Decodable>(
    _ type: Number.Type = Number.self, forKey key: Key
  ) throws -> Number {
    let number = try decode(Number.self, forKey: key)
    guard let wide = Int64(exactly: number), StoredNumbers.counts.contains(wide) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "The number is none that is counted up to.")
    }
    return number
  }

  /// A number of things, where there is one.
  package func decodeCountIfPresent<Number: FixedWidthInteger & Decodable>(
    _ type: Number.Type = Number.self, forKey key: Key
  ) throws -> Number? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    return try decodeCount(forKey: key)
  }
}
