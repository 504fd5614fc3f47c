#if SQLite
  import SyncModels

  /// Which records of types that were found empty may have got a row since: what comes new, in no order, is not looked up before it is added.
  ///
  /// A Bloom filter (B. H. Bloom, 1970): it says "perhaps" of every record that was added, and "no" of nearly all others. After a million
  /// records it is mistaken about one in 400, after three millions about one in 14; those are looked up. Two hashes stand for four (A. Kirsch
  /// and M. Mitzenmacher, 2006).
  ///
  /// It has to be forgotten as soon as another connection has written.
  struct NewRecordFilter {
    private var types: [RecordType: Bool] = [:]
    private var words: [UInt64] = []

    // 2 MiB of bits, whose memory is taken when the first type is found empty.
    private static let wordsShift: UInt64 = 18
    private static let probeCount: UInt64 = 4

    /// Whether a type was empty, so that its records are in the filter; `nil` if nobody has looked.
    func wasEmpty(_ type: RecordType) -> Bool? { types[type] }

    /// Notes that a type is empty, or is not.
    mutating func note(_ type: RecordType, isEmpty: Bool) {
      types[type] = isEmpty
      if isEmpty, words.isEmpty { words = Array(repeating: 0, count: 1 << Int(Self.wordsShift)) }
    }

    /// Notes that a record gets a row.
    mutating func insert(_ id: RecordID) {
      guard !words.isEmpty else { return }
      for hash in Self.probes(of: id.key) { words[Self.word(of: hash)] |= Self.bit(of: hash) }
    }

    /// Whether a record of a type that was empty may have a row.
    func mayContain(_ id: RecordID) -> Bool {
      Self.probes(of: id.key).allSatisfy { words[Self.word(of: $0)] & Self.bit(of: $0) != 0 }
    }

    mutating func forget() {
      if !types.isEmpty { (types, words) = ([:], []) }
    }

    /// What tells a key's places: one hash of its bytes, and others by steps of a second, which the output function of SplitMix64 makes of it
    /// (S. Vigna).
    private static func probes(of key: String) -> some Sequence<UInt64> {
      let digest = ContentDigest.of(key)
      var mixed = (digest ^ (digest >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      mixed ^= mixed >> 31
      return (0..<probeCount).lazy.map { mixed &+ $0 &* (digest | 1) }
    }

    private static func word(of hash: UInt64) -> Int { Int(hash >> (64 - wordsShift)) }
    private static func bit(of hash: UInt64) -> UInt64 { 1 << (hash >> (58 - wordsShift) & 63) }
  }
#endif
