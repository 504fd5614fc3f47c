#if Postgres
  import SyncModels

  /// The rows of the records that a transaction has looked up since its last write.
  ///
  /// A write mostly names them in the same order, so it finds each next to the one before.
  struct RowTrail {
    private var ids: [RecordID] = []
    private(set) var numbers: [Int64] = []
    /// Whether each record is to be marked.
    var isMarked: [Bool] = []
    private var next = 0
    /// The places by id, once a record was not found in order.
    private var places: [RecordID: Int]?

    // More were not looked up for one write.
    private static let size = 10_000

    /// Adds records; a number is 0 for a record without a row.
    mutating func add(_ ids: [RecordID], _ numbers: [Int64]) {
      if self.ids.count + ids.count > Self.size { forget() }
      if self.ids.isEmpty {
        (self.ids, self.numbers) = (ids, numbers)
      } else {
        self.ids += ids
        self.numbers += numbers
      }
      isMarked += repeatElement(false, count: ids.count)
      places = nil
    }

    /// Forgets all, when the rows may have changed.
    mutating func forget() { self = RowTrail() }

    /// Begins the search at the first record again.
    mutating func rewind() { next = 0 }

    /// The place of a record; `nil` if it was not looked up.
    mutating func place(of id: RecordID) -> Int? {
      if let places { return places[id] }
      var place = next
      while place < ids.count {
        if ids[place] == id {
          next = place + 1
          return place
        }
        place += 1
      }
      if ids.isEmpty { return nil }
      let all = Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first })
      places = all
      return all[id]
    }
  }
#endif
