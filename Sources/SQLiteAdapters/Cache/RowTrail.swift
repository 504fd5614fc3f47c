#if SQLite
  import SyncModels

  /// The rows of the last records that a transaction looked up, in lookup order.
  ///
  /// A merge reads the states of a batch, writes some of its records, then marks them, each time in
  /// the batch's order. The next record is therefore usually the next one here, and its row is
  /// known.
  struct RowTrail {
    private var ids: [RecordID] = []
    private var rows: [Int64?] = []
    private var walk = BatchWalk()

    init() {}

    /// Creates an empty trail with room for this many records.
    init(capacity: Int) {
      ids.reserveCapacity(capacity)
      rows.reserveCapacity(capacity)
    }

    /// Creates a trail for a batch whose rows are not known yet.
    init(over ids: [RecordID]) {
      self.ids = ids
      rows.reserveCapacity(ids.count)
    }

    /// The known rows of exactly these ids; `nil` if the trail is over other ids.
    ///
    /// The arrays' storage is compared, at no cost. Equal ids in another array are found one by
    /// one.
    func rows(ofVery ids: [RecordID]) -> [Int64?]? {
      guard ids.count == rows.count, !ids.isEmpty else { return nil }
      let isSame = ids.withUnsafeBufferPointer { a in
        self.ids.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress }
      }
      return isSame ? rows : nil
    }

    /// Adds the row of the batch's next record. A record without a row may get one later.
    mutating func append(row: Int64?) {
      rows.append(row)
    }

    /// Adds a found record to a trail without a batch.
    mutating func append(_ id: RecordID, in row: Int64) {
      ids.append(id)
      rows.append(row)
    }

    mutating func set(_ row: Int64, at place: Int) {
      rows[place] = row
    }

    /// The place of a record and its row, as far as they are known.
    mutating func find(_ id: RecordID) -> (place: Int?, row: Int64?) {
      let place = walk.find(among: rows.count) { ids[$0] == id }
      guard let place else { return (nil, nil) }
      return (place, rows[place])
    }
  }
#endif
