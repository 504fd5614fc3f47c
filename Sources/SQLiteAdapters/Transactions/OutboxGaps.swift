#if SQLite
  import SyncModels

  /// Ranges of one type's keys in which no edit is pending, learned while records are asked for whose edits are.
  ///
  /// Mostly few edits are pending, and many records are asked for, in the order of their keys or of two such orders that take turns. So a lookup that finds
  /// nothing is followed by one for the next key that has an edit, and what lies before that need not be looked up.
  struct OutboxGaps {
    private var gaps: [(start: String, end: String?)] = []
    private var learned = 0
    private var used = 0

    // To learn of a gap costs as much as a lookup.
    private static let trials = 8
    private static let limit = 2

    /// Whether gaps have saved more lookups than they took.
    var areWorthwhile: Bool { learned < Self.trials || used > learned }

    /// Whether no edit is known to be pending of a key's record.
    mutating func contain(_ key: String) -> Bool {
      let isKnown = gaps.contains { gap in
        !key.precedesByUTF8(gap.start) && (gap.end.map { key.precedesByUTF8($0) } ?? true)
      }
      if isKnown { used += 1 }
      return isKnown
    }

    /// Notes that there is no edit from a key on to another one, or to the last.
    mutating func learn(from start: String, to end: String?) {
      learned += 1
      if gaps.count == Self.limit { gaps.removeFirst() }
      gaps.append((start, end))
    }

    /// Forgets the gaps, of one type, for another one.
    mutating func forget() {
      gaps.removeAll(keepingCapacity: true)
    }
  }
#endif
