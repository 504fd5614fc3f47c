/// A digest of bytes that is the same in every process and on every machine.
package enum ContentDigest {
  /// The 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo).
  package static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 { mixed(bytes) }

  /// The same hash of a text's UTF-8 bytes.
  package static func of(_ text: String) -> UInt64 { mixed(text.utf8) }

  /// The hash of nothing.
  package static let empty: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Adds one unit, a byte or a mark beyond all bytes, to a hash.
  package static func mix(_ unit: UInt64, into hash: inout UInt64) {
    hash = (hash ^ unit) &* 0x100_0000_01b3
  }

  private static func mixed(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash = empty
    for byte in bytes { mix(UInt64(byte), into: &hash) }
    return hash
  }
}
