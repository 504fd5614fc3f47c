/// The bounds of stored and received numbers that the library calculates with.
///
/// A damaged store or a remote may hold any number. A number outside these bounds is refused or
/// skipped when it is read, so later arithmetic cannot overflow. A thousand numbers within the
/// bounds can be added. A store in use for a thousand years does not come near them.
package enum StoredNumbers {
  /// The range of the numbers of records, passes, epochs and attempts.
  package static let counts: ClosedRange<Int64> = 0...(1 << 53)
}

extension KeyedDecodingContainer {
  /// Decodes a count.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for a number outside ``StoredNumbers/counts``.
  package func decodeCount<Number: FixedWidthInteger & Decodable>(
    _ type: Number.Type = Number.self, forKey key: Key
  ) throws -> Number {
    let number = try decode(Number.self, forKey: key)
    guard let wide = Int64(exactly: number), StoredNumbers.counts.contains(wide) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "The number is out of range for a count.")
    }
    return number
  }
}
