extension String {
  /// Reads percent-encoded text of an address (RFC 3986); `nil` if it is not UTF-8 in a valid encoding.
  package init?(percentEncoded text: some StringProtocol) {
    let parts = Array(text.utf8).split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    var bytes = Array(parts[0])
    for part in parts.dropFirst() {
      guard part.count >= 2, let byte = UInt8(String(decoding: part.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
      bytes += part.dropFirst(2)
    }
    self.init(validating: bytes, as: UTF8.self)
  }
}
