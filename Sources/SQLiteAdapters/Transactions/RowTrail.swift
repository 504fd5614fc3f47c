#if SQLite
  import SyncModels

  /// The rows of the records that a transaction has looked up last, in the order in which it did.
  ///
  /// A merge asks for the states of a batch, then writes some of its records, then marks them, each time in the batch's order: so the
  /// record that is wanted next is mostly the next one here, and its row need not be looked up again.
  struct RowTrail {
    private var ids: [RecordID] = []
    private var rows: [Int64?] = []
    private var walk = BatchWalk()

    init() {}

    /// Begins with nothing, and with room for so many records that are found.
    init(capacity: Int) {
      ids.reserveCapacity(capacity)
      rows.reserveCapacity(capacity)
    }

    /// Begins with a batch whose rows are not known yet.
    init(over ids: [RecordID]) {
      self.ids = ids
      rows.reserveCapacity(ids.count)
    }

    /// The rows of the very ids that the trail is over, as far as they are known; `nil` for other ids.
    ///
    /// The arrays' storage is compared, which costs nothing; ids that are merely equal are found one by one.
    func rows(ofVery ids: [RecordID]) -> [Int64?]? {
      guard ids.count == rows.count, !ids.isEmpty else { return nil }
      let isSame = ids.withUnsafeBufferPointer { a in
        self.ids.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress }
      }
      return isSame ? rows : nil
    }

    /// Adds the row of the batch's next record; one that has none yet may get one.
    mutating func append(row: Int64?) {
      rows.append(row)
    }

    /// Adds a record that was found, to a trail without a batch.
    mutating func append(_ id: RecordID, in row: Int64) {
      ids.append(id)
      rows.append(row)
    }

    mutating func set(_ row: Int64, at place: Int) {
      rows[place] = row
    }

    /// Where a record stands, and its row, as far as they are known.
    mutating func find(_ id: RecordID) -> (place: Int?, row: Int64?) {
      let place = walk.find(among: rows.count) { ids[$0] == id }
      guard let place else { return (nil, nil) }
      return (place, rows[place])
    }
  }
#endif
