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
    private static let probes: UInt64 = 4

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
      let hashes = Self.hashes(of: id.key)
      for probe in 0..<Self.probes {
        let (word, bit) = Self.place(probe, hashes)
        words[word] |= bit
      }
    }

    /// Whether a record of a type that was empty may have a row.
    func mayContain(_ id: RecordID) -> Bool {
      let hashes = Self.hashes(of: id.key)
      for probe in 0..<Self.probes {
        let (word, bit) = Self.place(probe, hashes)
        if words[word] & bit == 0 { return false }
      }
      return true
    }

    mutating func forget() {
      if !types.isEmpty { (types, words) = ([:], []) }
    }

    private static func place(_ probe: UInt64, _ hashes: (UInt64, UInt64)) -> (word: Int, bit: UInt64) {
      let hash = hashes.0 &+ probe &* hashes.1
      return (Int(hash >> (64 - wordsShift)), 1 << (hash >> (58 - wordsShift) & 63))
    }

    /// Two hashes of a key's bytes: FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), and what the output function of SplitMix64 makes of it (S. Vigna).
    private static func hashes(of key: String) -> (UInt64, UInt64) {
      var key = key
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      key.withUTF8 { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
      var mixed = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return (mixed ^ (mixed >> 31), hash | 1)
    }
  }
#endif
