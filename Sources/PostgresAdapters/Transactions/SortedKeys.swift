#if Postgres
  import SyncModels

  /// Some keys in the order of their bytes, to find those of a result's rows.
  ///
  /// The rows mostly come in that order too, so each is found next to the one before.
  struct SortedKeys {
    private let ids: [RecordID]
    let places: [Int]
    private var next = 0

    init(_ ids: [RecordID], at places: [Int]) {
      self.ids = ids
      let isSorted = zip(places, places.dropFirst()).allSatisfy {
        !ids[$1].key.precedesByUTF8(ids[$0].key)
      }
      self.places = isSorted ? places : places.sorted { ids[$0].key.precedesByUTF8(ids[$1].key) }
    }

    /// Whether all keys come before all keys of others.
    func areAll(before others: SortedKeys) -> Bool {
      guard let last = places.last, let first = others.places.first else { return true }
      return ids[last].key.precedesByUTF8(others.ids[first].key)
    }

    /// The places of the key that a row has in its first two columns.
    mutating func places(of row: ResultRow) -> ArraySlice<Int> {
      if next == places.count || order(next, row) != 0 { next = firstPlace(notBefore: row) }
      let start = next
      while next < places.count, order(next, row) == 0 { next += 1 }
      return places[start..<next]
    }

    private func order(_ index: Int, _ row: ResultRow) -> Int {
      row.order(of: ids[places[index]].key, relativeTo: 0)
    }

    private func firstPlace(notBefore row: ResultRow) -> Int {
      var range = places.indices
      while !range.isEmpty {
        let middle = range.lowerBound + range.count / 2
        range =
          order(middle, row) < 0 ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }
  }
#endif
