/// The 64-bit xxHash with seed zero, of bytes that come in portions.
///
/// It is stable across machines and releases, and as fast as memory. It detects accidental changes,
/// and does not resist deliberate collisions. Specification:
/// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
struct XXH64: Sendable {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  private var lane1 = prime1 &+ prime2
  private var lane2 = prime2
  private var lane3: UInt64 = 0
  private var lane4 = 0 &- prime1
  /// Fewer than 32 bytes, waiting for a full stripe.
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  /// Adds bytes.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    length &+= UInt64(bytes.count)
    var offset = 0
    if !pending.isEmpty {
      offset = min(32 - pending.count, bytes.count)
      pending.append(contentsOf: bytes[..<offset])
      guard pending.count == 32 else { return }
      let stripe = pending
      pending.removeAll(keepingCapacity: true)
      stripe.withUnsafeBytes { _ = consumeStripes(of: $0, from: 0) }
    }
    offset = consumeStripes(of: bytes, from: offset)
    pending.append(contentsOf: bytes[offset...])
  }

  /// The digest of all bytes so far; more may follow.
  var value: UInt64 {
    var hash = length < 32 ? Self.prime5 : merged
    hash &+= length
    pending.withUnsafeBytes { rest in
      var offset = 0
      while offset + 8 <= rest.count {
        hash ^= Self.round(0, Self.word(rest, offset))
        hash = Self.rotate(hash, 27) &* Self.prime1 &+ Self.prime4
        offset += 8
      }
      if offset + 4 <= rest.count {
        let half = UInt32(littleEndian: rest.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        hash ^= UInt64(half) &* Self.prime1
        hash = Self.rotate(hash, 23) &* Self.prime2 &+ Self.prime3
        offset += 4
      }
      for byte in rest[offset...] {
        hash ^= UInt64(byte) &* Self.prime5
        hash = Self.rotate(hash, 11) &* Self.prime1
      }
    }
    hash = (hash ^ hash >> 33) &* Self.prime2
    hash = (hash ^ hash >> 29) &* Self.prime3
    return hash ^ hash >> 32
  }

  /// Adds all whole stripes, and returns the offset past them.
  private mutating func consumeStripes(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var (a, b, c, d) = (lane1, lane2, lane3, lane4)
    var offset = start
    while offset + 32 <= bytes.count {
      a = Self.round(a, Self.word(bytes, offset))
      b = Self.round(b, Self.word(bytes, offset + 8))
      c = Self.round(c, Self.word(bytes, offset + 16))
      d = Self.round(d, Self.word(bytes, offset + 24))
      offset += 32
    }
    (lane1, lane2, lane3, lane4) = (a, b, c, d)
    return offset
  }

  private var merged: UInt64 {
    var hash =
      Self.rotate(lane1, 1) &+ Self.rotate(lane2, 7) &+ Self.rotate(lane3, 12) &+ Self.rotate(lane4, 18)
    for lane in [lane1, lane2, lane3, lane4] {
      hash = (hash ^ Self.round(0, lane)) &* Self.prime1 &+ Self.prime4
    }
    return hash
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotate(lane &+ word &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value &<< count | value &>> (64 &- count)
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
