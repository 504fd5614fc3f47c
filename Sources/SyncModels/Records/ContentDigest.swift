/// A digest of bytes that is the same in every process and on every machine.
package enum ContentDigest {
  /// The 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo).
  package static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 { mixed(bytes) }

  /// The same hash of a text's UTF-8 bytes.
  package static func of(_ text: String) -> UInt64 { mixed(text.utf8) }

  private static func mixed(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}
