#if SQLite
  /// A search in a batch that is mostly queried in order.
  ///
  /// The search begins after the last item found.
  struct BatchWalk {
    private var next = 0
    private var misses = 0

    // After this many misses, the queries have another order, and the search is given up.
    private static let maximumMisses = 8

    var isGivenUp: Bool { misses >= Self.maximumMisses }

    /// The index of the wanted item.
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
