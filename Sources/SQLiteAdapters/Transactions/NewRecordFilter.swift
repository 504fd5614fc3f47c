#if SQLite
  import SyncModels

  /// A filter of the records added to types that were empty.
  ///
  /// New records that arrive in no order are then added without a lookup. The filter is a Bloom
  /// filter (B. H. Bloom, 1970): it answers "perhaps" for every added record, and "no" for nearly
  /// all others. Its error rate is one in 400 after a million records, and one in 14 after three
  /// million; such records are looked up. Two hashes serve as four (A. Kirsch and M. Mitzenmacher,
  /// 2006).
  ///
  /// It must be cleared when another connection has written.
  struct NewRecordFilter {
    private var types: [RecordType: Bool] = [:]
    private var words: [UInt64] = []

    // 2 MiB of bits, allocated when the first type is found empty.
    private static let wordsShift: UInt64 = 18
    private static let probeCount: UInt64 = 4

    /// Whether a type was empty, so that the filter has its records; `nil` if unknown.
    func wasEmpty(_ type: RecordType) -> Bool? { types[type] }

    /// Stores whether a type is empty.
    mutating func note(_ type: RecordType, isEmpty: Bool) {
      types[type] = isEmpty
      if isEmpty, words.isEmpty { words = Array(repeating: 0, count: 1 << Int(Self.wordsShift)) }
    }

    /// Adds a record that gets a row.
    mutating func insert(_ id: RecordID) {
      guard !words.isEmpty else { return }
      for hash in Self.probes(of: id.key) { words[Self.word(of: hash)] |= Self.bit(of: hash) }
    }

    /// Whether a record may have a row, for a type that was empty.
    func mayContain(_ id: RecordID) -> Bool {
      Self.probes(of: id.key).allSatisfy { words[Self.word(of: $0)] & Self.bit(of: $0) != 0 }
    }

    mutating func forget() {
      if !types.isEmpty { (types, words) = ([:], []) }
    }

    /// The bit positions of a key: one hash of its bytes, then steps of a second hash.
    ///
    /// The second hash is the output function of SplitMix64 (S. Vigna), applied to the first.
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
