#if SQLite
  import SyncModels

  /// A cache of the outbox entries that the writer has read, with their rows.
  ///
  /// A push reads edits, marks them as sent, and removes them, in three transactions and in the
  /// same order. The cache must be cleared when a transaction is rolled back, and when another
  /// connection has written.
  struct KnownEdits {
    // Separate from the entries, because only ids are searched.
    private var ids: [RecordID] = []
    private var areThere: [Bool] = []
    // Removed ones as well, until all are removed: an optional would be copied to be compared.
    private(set) var entries: [OutboxEntry] = []
    private var rows: [Int64] = []
    private var walk = BatchWalk()
    private var count = 0
    private var bytes = 0

    // A push has fewer edits in progress, unless its records are large. Reading those again costs
    // little compared with sending them.
    private static let limit = (edits: 1024, bytes: 1 << 20)

    var isEmpty: Bool { count == 0 }

    /// The index of a record's edit.
    mutating func find(_ id: RecordID) -> Int? {
      if isEmpty { return nil }
      if let place = walk.find(among: ids.count, { areThere[$0] && ids[$0] == id }) { return place }
      // The cache does not help queries in another order.
      if walk.isGivenUp { forget() }
      return nil
    }

    func row(at place: Int) -> Int64 { rows[place] }

    /// Adds an edit that is not cached.
    mutating func append(_ entry: OutboxEntry, in row: Int64) {
      if entries.count == Self.limit.edits || bytes + entry.bytes > Self.limit.bytes { forget() }
      ids.append(entry.id)
      areThere.append(true)
      entries.append(entry)
      rows.append(row)
      count += 1
      bytes += entry.bytes
    }

    /// Replaces the cached edit of the same record.
    mutating func replace(at place: Int, by entry: OutboxEntry) {
      entries[place] = entry
    }

    mutating func remove(at place: Int) {
      areThere[place] = false
      count -= 1
      if isEmpty { forget() }
    }

    mutating func forget() {
      ids.removeAll(keepingCapacity: true)
      areThere.removeAll(keepingCapacity: true)
      entries.removeAll(keepingCapacity: true)
      rows.removeAll(keepingCapacity: true)
      walk = BatchWalk()
      (count, bytes) = (0, 0)
    }
  }

  extension OutboxEntry {
    /// The approximate memory of the entry, including what was sent.
    fileprivate var bytes: Int {
      (edit.content.payload?.bytes.count ?? 0) + (base.record?.payload.bytes.count ?? 0)
    }

    /// Whether two entries differ only in the state of their sending.
    func differsInSendingAlone(from other: OutboxEntry) -> Bool {
      (sent == nil || sent == edit) && edit == other.edit && base == other.base
        && author == other.author && leaves == other.leaves
    }
  }
#endif
