#if SQLite
  import SyncModels

  /// What a connection remembers of the file's rows, marks, edits and new records.
  ///
  /// Rows and marks are remembered within one transaction. Edits and new records outlive it, on the
  /// writer's connection, and are forgotten when a transaction fails or another connection has
  /// written. `Tests/Benchmarks/Results.md` has what each part saves.
  final class ConnectionCache {
    /// How long a cache remembers.
    enum Span {
      /// Marks, for one transaction: a connection that only reads.
      case snapshot
      /// Everything: the connection that writes.
      case connection
    }

    private let span: Span
    // Each record of a page uses both several times. No call below calls back.
    @exclusivity(unchecked) private var trail = RowTrail()
    @exclusivity(unchecked) private var newRecords = NewRecordFilter()
    private var knownEdits = KnownEdits()
    private var bitmaps: [RecordType: TypeMarks] = [:]
    private var lastBitmap: TypeMarks?
    // The data version of the file when it was last checked.
    private var knownVersion: Int64?
    private var isFresh = false

    init(_ span: Span) {
      self.span = span
    }

    // MARK: Transactions

    /// Runs a transaction, and forgets what it made untrue.
    func scope<R>(_ transaction: () throws(SyncError) -> R) throws(SyncError) -> R {
      defer { endTransaction() }
      do {
        return try transaction()
      } catch {
        forget()
        throw error
      }
    }

    /// Forgets edits and new records.
    func forget() {
      newRecords.forget()
      knownEdits.forget()
    }

    private func endTransaction() {
      trail = RowTrail()
      if lastBitmap != nil { (bitmaps, lastBitmap) = ([:], nil) }
      isFresh = false
    }

    /// Forgets edits and new records if another connection has changed the file.
    ///
    /// - Parameter version: The file's data version, read within the transaction. It changes with
    ///   the commits of other connections.
    func refresh(_ version: () throws(SyncError) -> Int64?) throws(SyncError) {
      if isFresh || span == .snapshot { return }
      let version = try version()
      if version == nil || version != knownVersion { forget() }
      knownVersion = version
      isFresh = true
    }

    // MARK: Rows

    /// Remembers the rows of the records that were found last.
    func hasFound(_ trail: RowTrail) {
      if span == .connection { self.trail = trail }
    }

    /// The known row of a record, and its index in the trail.
    func findRow(_ id: RecordID) -> (place: Int?, row: Int64?) { trail.find(id) }

    /// The known rows of exactly these ids.
    func rows(ofVery ids: [RecordID]) -> [Int64?]? { trail.rows(ofVery: ids) }

    /// Remembers the row that a record of the trail has got.
    func setRow(_ row: Int64, at place: Int) { trail.set(row, at: place) }

    /// Forgets the rows, after a record got one that is not known.
    func forgetRows() { trail = RowTrail() }

    // MARK: New records

    /// Whether a record may have a row, so that a lookup is worthwhile.
    ///
    /// - Parameter hasRows: Finds whether the record's type has rows, at its first record.
    func mayHaveRow(_ id: RecordID, hasRows: () throws(SyncError) -> Bool) throws(SyncError) -> Bool {
      if span == .snapshot { return true }
      if let wasEmpty = newRecords.wasEmpty(id.type) {
        return !wasEmpty || newRecords.mayContain(id)
      }
      let hasRows = try hasRows()
      newRecords.note(id.type, isEmpty: !hasRows)
      return hasRows
    }

    /// Remembers that a record gets a row.
    func willAdd(_ id: RecordID) { newRecords.insert(id) }

    // MARK: Edits

    /// Whether no pending edit is remembered.
    var hasNoEdits: Bool { knownEdits.isEmpty }

    /// Appends the pending edit of a record, if it is remembered.
    func appendEdit(of id: RecordID, to entries: inout [OutboxEntry]) -> Bool {
      guard let entry = knownEdits.entry(of: id) else { return false }
      entries.append(entry)
      return true
    }

    /// Replaces an edit that differs in the state of its sending alone.
    ///
    /// Returns its row, and what its checksum grows by. An edit that differs in more is forgotten.
    func replaceEdit(by entry: OutboxEntry) -> (row: Int64, growth: Int64)? {
      knownEdits.replace(by: entry)
    }

    /// Removes the pending edit of a record, and returns its row.
    func removeEdit(_ id: RecordID) -> Int64? { knownEdits.remove(id) }

    /// Forgets all edits, before many are read.
    func forgetEdits() { knownEdits.forget() }

    /// Remembers an edit that was read, for later lookups.
    func hasRead(_ entry: OutboxEntry, in row: Int64) {
      if span == .connection { knownEdits.append(entry, in: row) }
    }

    // MARK: Marks

    /// The marks of a type. Chunks that were read stay in memory.
    func marks(of type: RecordType, on connection: Connection) -> TypeMarks {
      if let lastBitmap, lastBitmap.type == type { return lastBitmap }
      let bitmap = bitmaps[type] ?? TypeMarks(of: type, on: connection)
      bitmaps[type] = bitmap
      lastBitmap = bitmap
      return bitmap
    }

    /// Writes the new marks.
    func flushMarks() throws(SyncError) {
      for bitmap in bitmaps.values { try bitmap.flush() }
    }
  }
#endif
