#if SQLite
  import SyncModels

  /// Ranges of one type's keys without a pending edit, learned during lookups.
  ///
  /// Usually few edits are pending, and many records are looked up. The lookups follow the order of
  /// keys, or two such orders in turns. After a lookup without a result, a second one finds the
  /// next key that has an edit. Keys before it need no lookup.
  struct OutboxGaps {
    private var gaps: [(start: String, end: String?)] = []
    private var learned = 0
    private var used = 0

    // Learning a gap costs as much as a lookup.
    private static let trials = 8
    private static let limit = 2

    /// Whether gaps have saved more lookups than they cost.
    var areWorthwhile: Bool { learned < Self.trials || used > learned }

    /// Whether a key is in a known gap, and its record has no edit.
    mutating func contain(_ key: String) -> Bool {
      let isKnown = gaps.contains { gap in
        !key.precedesByUTF8(gap.start) && (gap.end.map { key.precedesByUTF8($0) } ?? true)
      }
      if isKnown { used += 1 }
      return isKnown
    }

    /// Adds a range without edits, from a key to another one or to the last.
    mutating func learn(from start: String, to end: String?) {
      learned += 1
      if gaps.count == Self.limit { gaps.removeFirst() }
      gaps.append((start, end))
    }

    /// Clears the gaps, before lookups of another type.
    mutating func forget() {
      gaps.removeAll(keepingCapacity: true)
    }
  }
#endif
