#if SQLite
  import SyncModels

  /// A filter of the records added to types that were empty.
  ///
  /// New records that arrive in no order are then added without a lookup. The filter is a Bloom
  /// filter (B. H. Bloom, 1970): it answers "perhaps" for every added record, and "no" for nearly
  /// all others. It begins with 16 KiB and grows by larger slices, as a scalable filter does (P. S.
  /// Almeida and others, 2007), so that a small store costs little. Its error rate is one in 400
  /// after a million records, and one in 14 after three million; such records are looked up. Two
  /// hashes serve as four (A. Kirsch and M. Mitzenmacher, 2006).
  ///
  /// It must be cleared when another connection has written.
  struct NewRecordFilter {
    private var types: [RecordType: Bool] = [:]
    // Each has records that came after those of the slice before. The last one takes new records.
    private var slices: [Slice] = []

    /// A filter of a fixed size.
    private struct Slice {
      let wordsShift: UInt64
      var words: [UInt64]
      // The number of records that it may take before the next slice.
      var room: Int

      init(wordsShift: UInt64) {
        self.wordsShift = wordsShift
        words = Array(repeating: 0, count: 1 << Int(wordsShift))
        // Sixteen bits for each record.
        room = words.count * 4
      }

      mutating func insert(_ probes: Probes) {
        for hash in probes { words[word(of: hash)] |= bit(of: hash) }
        room -= 1
      }

      func mayContain(_ probes: Probes) -> Bool {
        for hash in probes where words[word(of: hash)] & bit(of: hash) == 0 { return false }
        return true
      }

      private func word(of hash: UInt64) -> Int { Int(hash >> (64 - wordsShift)) }
      private func bit(of hash: UInt64) -> UInt64 { 1 << (hash >> (58 - wordsShift) & 63) }
    }

    /// The bit positions of a key: one hash of its bytes, then steps of a second hash.
    ///
    /// The second hash is the output function of SplitMix64 (S. Vigna), applied to the first.
    private struct Probes: Sequence, IteratorProtocol {
      private var hash: UInt64
      private let step: UInt64
      private var left = 4

      init(of key: String) {
        let digest = ContentDigest.of(key)
        var mixed = (digest ^ (digest >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        mixed ^= mixed >> 31
        hash = mixed
        step = digest | 1
      }

      mutating func next() -> UInt64? {
        guard left > 0 else { return nil }
        left -= 1
        defer { hash &+= step }
        return hash
      }
    }

    // 16 KiB, 128 KiB and 2 MiB of bits. The last slice takes all further records.
    private static let wordsShifts: [UInt64] = [11, 14, 18]

    /// The memory of the filter, in bytes.
    var size: Int { slices.reduce(0) { $0 + $1.words.count * 8 } }

    /// Whether a type was empty, so that the filter has its records; `nil` if unknown.
    func wasEmpty(_ type: RecordType) -> Bool? { types[type] }

    /// Stores whether a type is empty.
    mutating func note(_ type: RecordType, isEmpty: Bool) {
      types[type] = isEmpty
      if isEmpty, slices.isEmpty { slices = [Slice(wordsShift: Self.wordsShifts[0])] }
    }

    /// Adds a record that gets a row.
    mutating func insert(_ id: RecordID) {
      guard !slices.isEmpty else { return }
      if slices[slices.count - 1].room <= 0, slices.count < Self.wordsShifts.count {
        slices.append(Slice(wordsShift: Self.wordsShifts[slices.count]))
      }
      slices[slices.count - 1].insert(Probes(of: id.key))
    }

    /// Whether a record may have a row, for a type that was empty.
    func mayContain(_ id: RecordID) -> Bool {
      let probes = Probes(of: id.key)
      return slices.contains { $0.mayContain(probes) }
    }

    mutating func forget() {
      if !types.isEmpty { (types, slices) = ([:], []) }
    }
  }
#endif
