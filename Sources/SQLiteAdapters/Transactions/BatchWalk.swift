#if SQLite
  /// A search in a batch whose records are mostly asked for one after the other: the one that is wanted next stands behind the last one found.
  struct BatchWalk {
    private var next = 0
    private var misses = 0

    // Whoever asks for other records, or in another order, is not worth searching for again and again.
    private static let maximumMisses = 8

    var isGivenUp: Bool { misses >= Self.maximumMisses }

    /// The place that holds what is wanted.
    mutating func find(among count: Int, _ isWanted: (Int) -> Bool) -> Int? {
      guard !isGivenUp else { return nil }
      for step in 0..<count {
        var place = next + step
        if place >= count { place -= count }
        guard isWanted(place) else { continue }
        next = place + 1
        return place
      }
      misses += 1
      return nil
    }
  }
#endif
