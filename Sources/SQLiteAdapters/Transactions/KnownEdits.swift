#if SQLite
  import SyncModels

  /// Edits that the writer has read lately, and where they lie: a push reads them, writes that it sends them, and takes them out, each in a
  /// transaction of its own, and each in the same order.
  ///
  /// What is not committed in the end has to be forgotten, and everything as soon as another connection has written.
  struct KnownEdits {
    // Apart from their entries, as they are what is searched.
    private var ids: [RecordID] = []
    private var areThere: [Bool] = []
    private var entries: [OutboxEntry?] = []
    private var rows: [Int64] = []
    private var walk = BatchWalk()
    private var count = 0
    private var bytes = 0

    // A push has no more than this under way, unless its records are large: then reading them again costs little beside sending them.
    private static let limit = (edits: 1024, bytes: 1 << 20)

    var isEmpty: Bool { count == 0 }

    /// Where an edit stands here.
    mutating func find(_ id: RecordID) -> Int? {
      if isEmpty { return nil }
      if let place = walk.find(among: ids.count, { areThere[$0] && ids[$0] == id }) { return place }
      // Who asks for others is not helped by these, nor who asks in another order.
      if walk.isGivenUp { forget() }
      return nil
    }

    func entry(at place: Int) -> OutboxEntry? { entries[place] }

    func row(at place: Int) -> Int64 { rows[place] }

    /// Adds an edit that is not here.
    mutating func append(_ entry: OutboxEntry, in row: Int64) {
      if entries.count == Self.limit.edits || bytes + entry.bytes > Self.limit.bytes { forget() }
      ids.append(entry.id)
      areThere.append(true)
      entries.append(entry)
      rows.append(row)
      count += 1
      bytes += entry.bytes
    }

    /// Puts an edit in the place of another one of its record.
    mutating func replace(at place: Int, by entry: OutboxEntry) {
      entries[place] = entry
    }

    mutating func remove(at place: Int) {
      guard let size = entries[place]?.bytes else { return }
      (areThere[place], entries[place]) = (false, nil)
      count -= 1
      bytes -= size
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
    /// About what it takes in memory, whatever of it is sent.
    fileprivate var bytes: Int {
      (edit.content.payload?.bytes.count ?? 0) + (base.record?.payload.bytes.count ?? 0)
    }

    /// Whether it differs from another one in nothing but that it is sent, or how that went.
    func differsInSendingAlone(from other: OutboxEntry) -> Bool {
      (sent == nil || sent == edit) && edit == other.edit && base == other.base
        && author == other.author && leaves == other.leaves
    }
  }
#endif
