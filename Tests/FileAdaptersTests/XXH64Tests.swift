import Testing

@testable import FileAdapters

@Suite("XXH64")
struct XXH64Tests {
  /// The reference implementation's own test bytes.
  private static let reference: [UInt8] = {
    var generator: UInt64 = 2_654_435_761
    return (0..<222).map { _ in
      defer { generator = generator &* 11_400_714_785_074_694_797 }
      return UInt8(truncatingIfNeeded: generator >> 56)
    }
  }()

  private func digest(_ bytes: [UInt8], portion: Int = .max) -> UInt64 {
    var digest = XXH64()
    var rest = bytes[...]
    while !rest.isEmpty {
      rest.prefix(portion).withUnsafeBytes { digest.update($0) }
      rest = rest.dropFirst(portion)
    }
    return digest.value
  }

  @Test(
    arguments: [
      (0, 0xEF46_DB37_51D8_E999), (1, 0xE934_A84A_DB05_2768), (4, 0x9136_A0DC_A574_57EE),
      (14, 0x8282_DCC4_994E_35C8), (222, 0xB641_AE8C_B691_C174),
    ] as [(Int, UInt64)])
  func agreesWithTheReferenceImplementation(_ length: Int, _ expected: UInt64) {
    #expect(digest(Array(Self.reference.prefix(length))) == expected)
  }

  @Test(
    arguments: [
      ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
      ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
    ] as [(String, UInt64)])
  func agreesWithPublishedDigests(_ text: String, _ expected: UInt64) {
    #expect(digest(Array(text.utf8)) == expected)
  }

  @Test(arguments: [1, 3, 7, 8, 31, 32, 33, 64, 100, 221])
  func isTheSameInPortions(_ portion: Int) {
    #expect(digest(Self.reference, portion: portion) == 0xB641_AE8C_B691_C174)
  }
}
