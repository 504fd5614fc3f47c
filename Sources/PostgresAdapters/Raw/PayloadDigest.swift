#if Postgres
  /// Tells whether a stored payload equals another one, without reading it: SipHash-1-3.
  ///
  /// The key is the store's own secret. Without it, a writer at the remote cannot choose two
  /// payloads with one digest. Other payloads have equal digests once in 2⁶⁴ comparisons.
  package struct PayloadDigest: Sendable {
    private let key: (UInt64, UInt64)

    /// - Parameter key: The store's key of 16 bytes; missing bytes count as zero.
    package init(key: [UInt8]) {
      func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
      self.key = (word(key.prefix(8)), word(key.dropFirst(8).prefix(8)))
    }

    /// The digest of a payload.
    package func of(_ bytes: ArraySlice<UInt8>) -> Int64 {
      var state = State(key)
      bytes.withUnsafeBytes { bytes in
        let whole = bytes.count & ~7
        for place in stride(from: 0, to: whole, by: 8) {
          state.add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for place in whole..<bytes.count { last |= UInt64(bytes[place]) << UInt64(8 * (place - whole)) }
        state.add(last)
      }
      return Int64(bitPattern: state.end())
    }

    private struct State {
      private var a, b, c, d: UInt64

      init(_ key: (UInt64, UInt64)) {
        a = key.0 ^ 0x736f_6d65_7073_6575
        b = key.1 ^ 0x646f_7261_6e64_6f6d
        c = key.0 ^ 0x6c79_6765_6e65_7261
        d = key.1 ^ 0x7465_6462_7974_6573
      }

      mutating func add(_ word: UInt64) {
        d ^= word
        mix()
        a ^= word
      }

      mutating func end() -> UInt64 {
        c ^= 0xff
        for _ in 0..<3 { mix() }
        return a ^ b ^ c ^ d
      }

      private mutating func mix() {
        a &+= b
        b = b << 13 | b >> 51
        b ^= a
        a = a << 32 | a >> 32
        c &+= d
        d = d << 16 | d >> 48
        d ^= c
        a &+= d
        d = d << 21 | d >> 43
        d ^= a
        c &+= b
        b = b << 17 | b >> 47
        b ^= c
        c = c << 32 | c >> 32
      }
    }
  }
#endif
