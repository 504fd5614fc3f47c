#if SQLite
  import SyncModels
  import SyncPorts
  import Testing

  @testable import SQLiteAdapters

  @Suite("What a connection remembers")
  struct ConnectionCacheTests {
    private let ids = (0..<3).map { RecordID(type: "games", key: "g\($0)") }

    private func entry(_ id: RecordID, _ text: String = "{}") -> OutboxEntry {
      OutboxEntry(
        id: id,
        edit: Edit(
          .upsert(Payload(Array(text.utf8)), schemaVersion: 1),
          stamp: EditStamp(physical: Timestamp(microseconds: 1), replica: "r")),
        base: .none)
    }

    private func edit(_ id: RecordID, in cache: ConnectionCache) -> OutboxEntry? {
      var found: [OutboxEntry] = []
      return cache.appendEdit(of: id, to: &found) ? found.first : nil
    }

    private func trail(_ rows: [Int64?]) -> RowTrail {
      var trail = RowTrail(over: ids)
      for row in rows { trail.append(row: row) }
      return trail
    }

    /// Lets a cache have an edit and an empty type.
    private func fill(_ cache: ConnectionCache) throws {
      cache.hasRead(entry(ids[0]), in: 7)
      #expect(try !cache.mayHaveRow(ids[1]) { false })
    }

    @Test func rowsLastForOneTransaction() throws {
      let cache = ConnectionCache(.connection)
      try cache.scope {
        cache.hasFound(trail([4, nil, 6]))
        #expect(cache.findRow(ids[0]).row == 4)
        let added = cache.findRow(ids[1])
        #expect(added.place == 1 && added.row == nil)
        cache.setRow(5, at: 1)
        #expect(cache.findRow(ids[1]).row == 5)
        #expect(cache.rows(ofVery: ids) == [4, 5, 6])
      }
      #expect(cache.findRow(ids[0]).place == nil && cache.rows(ofVery: ids) == nil)
    }

    @Test func editsAndNewRecordsLastUntilAnotherConnectionWrites() throws {
      let cache = ConnectionCache(.connection)
      try cache.scope { () throws(SyncError) in try cache.refresh { 1 } }
      try fill(cache)
      try cache.scope { () throws(SyncError) in try cache.refresh { 1 } }
      #expect(edit(ids[0], in: cache) == entry(ids[0]))
      try cache.scope { () throws(SyncError) in
        try cache.refresh { 2 }
        #expect(edit(ids[0], in: cache) == nil && cache.hasNoEdits)
        let asksAgain = try cache.mayHaveRow(ids[1]) { true }
        #expect(asksAgain)
      }
    }

    @Test func theVersionIsReadOnceInATransaction() throws {
      let cache = ConnectionCache(.connection)
      var reads = 0
      func version() -> Int64 {
        reads += 1
        return 1
      }
      for transaction in 1...2 {
        try cache.scope { () throws(SyncError) in
          for _ in 0..<3 { try cache.refresh { version() } }
        }
        #expect(reads == transaction)
      }
    }

    @Test func anUnknownVersionIsAnotherOne() throws {
      let cache = ConnectionCache(.connection)
      try cache.scope { () throws(SyncError) in try cache.refresh { 1 } }
      try fill(cache)
      #expect(!cache.hasNoEdits)
      try cache.scope { () throws(SyncError) in try cache.refresh { nil } }
      #expect(cache.hasNoEdits)
    }

    @Test func aFailedTransactionIsForgotten() throws {
      let cache = ConnectionCache(.connection)
      try cache.scope { () throws(SyncError) in try cache.refresh { 1 } }
      #expect(throws: SyncError.self) {
        try cache.scope { () throws(SyncError) in
          cache.hasRead(entry(ids[0]), in: 7)
          _ = try cache.mayHaveRow(ids[1]) { () throws(SyncError) in false }
          cache.hasFound(trail([1, 2, 3]))
          throw SyncError(.cancelled, during: "trying")
        }
      }
      #expect(cache.hasNoEdits && cache.findRow(ids[0]).place == nil)
      let asksAgain = try cache.mayHaveRow(ids[1]) { true }
      #expect(asksAgain)
    }

    @Test func aRecordThatIsAddedMayHaveARow() throws {
      let cache = ConnectionCache(.connection)
      var questions = 0
      for id in ids {
        let isNew = try !cache.mayHaveRow(id) {
          questions += 1
          return false
        }
        #expect(isNew)
        cache.willAdd(id)
      }
      for id in ids { #expect(try cache.mayHaveRow(id) { false }) }
      #expect(questions == 1)
    }

    @Test func anEditIsReplacedAndRemoved() throws {
      let cache = ConnectionCache(.connection)
      for (row, id) in ids.enumerated() { cache.hasRead(entry(id), in: Int64(row)) }
      var sent = entry(ids[1])
      sent.attempts = 3
      #expect(cache.replaceEdit(by: sent)?.row == 1 && edit(ids[1], in: cache) == sent)
      #expect(cache.removeEdit(ids[1]) == 1 && edit(ids[1], in: cache) == nil)
      #expect(cache.replaceEdit(by: entry(ids[2], "{\"v\":1}")) == nil && edit(ids[2], in: cache) == nil)
      #expect(cache.removeEdit(ids[1]) == nil && !cache.hasNoEdits)
      cache.forgetEdits()
      #expect(cache.hasNoEdits)
    }

    @Test func aReaderRemembersNothingButMarks() throws {
      let cache = ConnectionCache(.snapshot)
      try cache.refresh { () throws(SyncError) in
        throw SyncError(.storeFailure, during: "asking without need")
      }
      cache.hasRead(entry(ids[0]), in: 7)
      cache.hasFound(trail([1, 2, 3]))
      #expect(cache.hasNoEdits && cache.findRow(ids[0]).place == nil)
      let isLookedUp = try cache.mayHaveRow(ids[1]) { false }
      #expect(isLookedUp)
    }
  }
#endif
