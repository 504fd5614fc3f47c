#if SQLite
  import SyncModels

  /// Records that were found to be live: the few that many others refer to are looked up once, not with every page.
  ///
  /// What is deleted, or is not committed in the end, has to be forgotten, and everything as soon as another connection has written.
  struct KnownRecords {
    private var ids: Set<RecordID> = []

    // Some megabytes at most. Whatever is referred to by turns from more than that is as well looked up again.
    private static let limit = 16_384

    func contains(_ id: RecordID) -> Bool { ids.contains(id) }

    mutating func insert(_ id: RecordID) {
      if ids.count == Self.limit { ids.removeAll(keepingCapacity: true) }
      ids.insert(id)
    }

    mutating func remove(_ id: RecordID) {
      if !ids.isEmpty { ids.remove(id) }
    }

    mutating func forget() { ids = [] }
  }
#endif
