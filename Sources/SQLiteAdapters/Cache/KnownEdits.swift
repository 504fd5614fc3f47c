#if SQLite
  import CanonicalSyncDatabases
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
    private var entries: [OutboxEntry] = []
    private var rows: [Int64] = []
    private var walk = BatchWalk()
    private var count = 0
    private var bytes = 0

    // A push has fewer edits in progress, unless its records are large. Reading those again costs
    // little compared with sending them.
    private static let limit = (edits: 1024, bytes: 1 << 20)

    var isEmpty: Bool { count == 0 }

    /// Returns a record's edit.
    mutating func entry(of id: RecordID) -> OutboxEntry? { find(id).map { entries[$0] } }

    /// The index of a record's edit.
    private mutating func find(_ id: RecordID) -> Int? {
      if isEmpty { return nil }
      if let place = walk.find(among: ids.count, { areThere[$0] && ids[$0] == id }) { return place }
      // The cache does not help queries in another order.
      if walk.isGivenUp { forget() }
      return nil
    }

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

    /// Replaces a record's edit that differs in the state of its sending alone.
    ///
    /// Returns its row, and what its checksum grows by. An edit that differs in more is removed.
    mutating func replace(by entry: OutboxEntry) -> (row: Int64, growth: Int64)? {
      guard let place = find(entry.id) else { return nil }
      let former = entries[place]
      guard entry.differsInSendingAlone(from: former) else {
        remove(at: place)
        return nil
      }
      entries[place] = entry
      let growth =
        EditChecksum.ofSending(entry, apart: nil) - EditChecksum.ofSending(former, apart: former.sentApart)
      return (rows[place], growth)
    }

    /// Removes a record's edit, and returns its row.
    mutating func remove(_ id: RecordID) -> Int64? {
      guard let place = find(id) else { return nil }
      defer { remove(at: place) }
      return rows[place]
    }

    private mutating func remove(at place: Int) {
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
