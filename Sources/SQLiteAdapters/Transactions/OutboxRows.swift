#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// The columns and statements of the outbox.
  enum OutboxRows {
    static let names = OutboxColumn.allCases.map(\.name)
    /// The index of the entry's number, after ``columns``.
    static let numberColumn = names.count
    static let columns = names.joined(separator: ", ")
    /// The columns that are written: ``names`` and the checksum of them.
    static let written = names + [EditChecksum.column]
    static let put = """
      INSERT INTO outbox (\(columns), checksum) VALUES (\(written.map { _ in "?" }.joined(separator: ", "))) \
      ON CONFLICT (type, id) DO UPDATE SET \
      \(written.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      """
    /// As ``put``, for an existing entry with the same stamp. No index changes.
    static let change = """
      UPDATE outbox SET \(written.enumerated().dropFirst(5).map { "\($0.element) = ?\($0.offset + 1)" }.joined(separator: ", ")) \
      WHERE type = ?1 AND id = ?2 AND physical = ?3 AND counter = ?4 AND replica = ?5
      """
    /// As ``change``, for an entry of which only the state of its sending changes.
    static let send = """
      UPDATE outbox SET sent = ?13, sent_physical = NULL, sent_counter = NULL, sent_replica = NULL, \
      sent_schema_version = NULL, sent_payload = NULL, state = ?18, state_at = ?19, refusal = ?20, attempts = ?21, \
      checksum = checksum + ?31 WHERE entry = ?1
      """
    static let ofRecord = "SELECT \(columns), entry FROM outbox WHERE type = ? AND id = ?"
    /// The next key that has an edit.
    static let nextRecord = "SELECT id FROM outbox WHERE type = ? AND id > ? ORDER BY id LIMIT 1"
    static let ofType = """
      SELECT \(columns), entry FROM outbox WHERE type = ? AND (physical, counter, replica) > (?, ?, ?) \
      ORDER BY physical, counter, replica, id LIMIT ?
      """
    static let firstOfType = """
      SELECT \(columns), entry FROM outbox WHERE type = ? ORDER BY physical, counter, replica, id LIMIT ?
      """
    static let count = "SELECT entries FROM outbox_counts WHERE type = ?"
    static let addToCount = """
      INSERT INTO outbox_counts VALUES (?, ?) ON CONFLICT (type) DO UPDATE SET entries = entries + excluded.entries
      """
    static let remove = "DELETE FROM outbox WHERE type = ? AND id = ?"
    static let removeRow = "DELETE FROM outbox WHERE entry = ?"
  }

  // MARK: Reading

  extension SQLiteSnapshot {
    func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] {
      let statement = try connection.statement(OutboxRows.ofRecord)
      var entries: [OutboxEntry] = []
      entries.reserveCapacity(ids.count)
      defer { statement.clear() }
      var type: RecordType?
      var gaps = OutboxGaps()
      try refreshCache()
      for id in ids {
        if cache.appendEdit(of: id, to: &entries) { continue }
        if id.type != type {
          type = id.type
          try statement.bind(id.type.rawValue, at: 1)
          gaps.forget()
        }
        if gaps.contain(id.key) { continue }
        let isPending = try statement.withLent(id.key, at: 2) { () throws(SyncError) in
          defer { statement.reset() }
          guard try statement.step() else { return false }
          let entry = try statement.outboxEntry(of: id.type)
          cache.hasRead(entry, in: statement.integer(OutboxRows.numberColumn))
          entries.append(entry)
          return true
        }
        if !isPending, gaps.areWorthwhile {
          gaps.learn(from: id.key, to: try nextRecordWithEdit(behind: id))
        }
      }
      return entries
    }

    private func nextRecordWithEdit(behind id: RecordID) throws(SyncError) -> String? {
      try connection.first(OutboxRows.nextRecord, .text(id.type.rawValue), .text(id.key)) { $0.text(0) }
    }

    func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry] {
      guard limit > 0 else { return [] }
      let statement = try connection.statement(after == nil ? OutboxRows.firstOfType : OutboxRows.ofType)
      defer { statement.reset() }
      try statement.bind(type.rawValue, at: 1)
      if let after { try statement.bind(after, at: 2) }
      try statement.bind(Int64(limit), at: after == nil ? 2 : 5)
      var entries: [OutboxEntry] = []
      entries.reserveCapacity(min(limit, 500))
      try refreshCache()
      cache.forgetEdits()
      while try statement.step() {
        let entry = try statement.outboxEntry(of: type)
        cache.hasRead(entry, in: statement.integer(OutboxRows.numberColumn))
        entries.append(entry)
      }
      return entries
    }

    func outboxCount(_ type: RecordType) throws(SyncError) -> Int {
      try connection.first(OutboxRows.count, .text(type.rawValue)) { $0.count(0) } ?? 0
    }
  }

  extension Statement {
    /// Reads the entry from a row of ``OutboxRows/columns``.
    func outboxEntry(of type: RecordType) throws(SyncError) -> OutboxEntry {
      let id = RecordID(type: type, key: text(1))
      if id.key.isEmpty { noteDamage("an edit of no record") }
      return try TableRow(self).entry(of: id)
    }
  }

  // MARK: Writing

  extension SQLiteTransaction {
    func insertIntoOutbox(_ entries: [OutboxEntry]) throws(SyncError) {
      try refreshCache()
      let send = try connection.statement(OutboxRows.send)
      let change = try connection.statement(OutboxRows.change)
      let put = try connection.statement(OutboxRows.put)
      defer {
        send.clear()
        change.clear()
        put.clear()
      }
      var addMany: Statement?
      defer { addMany?.clear() }
      var counts = EntryCounts()
      try connection.forgetLeaves(of: entries.lazy.map(\.id))
      for entry in entries { try connection.noteLeaves(of: entry) }
      // The remote may soon have it. An edit that takes it for unsent would be lost.
      if entries.contains(where: { $0.sent != nil }) { connection.flushThisCommit() }
      var next = entries.startIndex
      var areNew = cache.hasNoEdits
      while next < entries.endIndex {
        if areNew, let batch = entries[next...].batchToAdd {
          let many = if let addMany { addMany } else { try connection.statement(OutboxRows.addMany) }
          addMany = many
          try many.run(batch)
          counts.add(Int64(connection.changes), of: entries[next].id.type)
          // If one record has an entry, others probably have one as well. From here on each entry
          // is put by itself.
          areNew = connection.changes == batch.count
          if areNew {
            next += batch.count
            continue
          }
        }
        let entry = entries[next]
        next += 1
        if let (row, growth) = cache.replaceEdit(by: entry) {
          try send.run(entry, in: row, growth)
          continue
        }
        // An entry that was sent, or may not be sent, is already in the outbox, usually otherwise
        // unchanged.
        if entry.sent != nil || entry.state != .waiting {
          try change.run(entry)
          if connection.changes > 0 { continue }
        }
        connection.forgetLastRow()
        try put.run(entry)
        if connection.lastRow != 0 { counts.add(1, of: entry.id.type) }
      }
      try addToCounts(counts)
    }

    func removeFromOutbox(_ ids: [RecordID]) throws(SyncError) {
      try refreshCache()
      try connection.forgetLeaves(of: ids)
      let byRow = try connection.statement(OutboxRows.removeRow)
      let byID = try connection.statement(OutboxRows.remove)
      defer { byID.clear() }
      var counts = EntryCounts()
      var type: RecordType?
      for id in ids {
        if let row = cache.removeEdit(id) {
          try byRow.bind(row, at: 1)
          try byRow.run()
        } else {
          if id.type != type {
            type = id.type
            try byID.bind(id.type.rawValue, at: 1)
          }
          try byID.run(lending: id.key, at: 2)
        }
        if connection.changes > 0 { counts.add(-1, of: id.type) }
      }
      try addToCounts(counts)
    }

    private func addToCounts(_ counts: EntryCounts) throws(SyncError) {
      for (type, count) in counts.runs {
        try connection.run(OutboxRows.addToCount, .text(type.rawValue), .number(count))
      }
    }
  }

  /// The numbers of entries added and removed, by runs of one type. Usually there is one run.
  private struct EntryCounts {
    private(set) var runs: [(type: RecordType, count: Int64)] = []

    mutating func add(_ count: Int64, of type: RecordType) {
      if let last = runs.indices.last, runs[last].type == type {
        runs[last].count += count
      } else {
        runs.append((type, count))
      }
    }
  }

  extension Statement {
    /// Runs ``OutboxRows/put`` or ``OutboxRows/change`` for an entry.
    fileprivate func run(_ entry: OutboxEntry) throws(SyncError) {
      try bind(entry.id.type.rawValue, at: 1)
      try bind(entry.edit.stamp.replica, at: 5)
      let (sent, leaves) = try bindSending(of: entry)
      try run(lendingOptional: sent?.content.payload, at: 24) { () throws(SyncError) in
        try runRest([entry], sent: sent, leaves: leaves, from: 0)
      }
    }

    /// Runs ``OutboxRows/addMany`` for some entries.
    fileprivate func run(_ entries: ArraySlice<OutboxEntry>) throws(SyncError) {
      guard let first = entries.first else { return }
      try bind(first.id.type.rawValue, at: 1)
      try bind(first.edit.stamp.replica, at: 5)
      try runRest(entries, sent: nil, leaves: nil, from: 0)
    }

    // Each call lends the bytes of one entry. The innermost call runs the statement.
    private func runRest(
      _ entries: ArraySlice<OutboxEntry>, sent: Edit?, leaves: String?, from offset: Int32
    ) throws(SyncError) {
      guard let entry = entries.first else { return try run() }
      let next = offset + OutboxRows.parametersPerRow
      try bindEdit(of: entry, from: offset)
      try bind(EditChecksum.of(entry, sentApart: sent, leaves: leaves), at: next)
      try run(lendingOptional: entry.edit.content.payload, at: offset + 22) { () throws(SyncError) in
        try run(lendingOptional: entry.base.record?.payload, at: offset + 23) { () throws(SyncError) in
          try withLent(entry.id.key, at: offset + 2) { () throws(SyncError) in
            try runRest(entries.dropFirst(), sent: nil, leaves: nil, from: next)
          }
        }
      }
    }

    /// Runs ``OutboxRows/send`` for an entry whose pending edit is the one sent, if any.
    fileprivate func run(_ entry: OutboxEntry, in row: Int64, _ growth: Int64) throws(SyncError) {
      try bind(row, at: 1)
      try bind(word: entry.sent == nil ? "nothing" : "edit", at: 13)
      try bind(entry.state)
      try bind(Int64(entry.attempts), at: 21)
      try bind(growth, at: 31)
      try run()
    }

    /// Binds the parameters of one ``OutboxRows/addMany`` row, except key and payloads.
    private func bindEdit(of entry: OutboxEntry, from offset: Int32) throws(SyncError) {
      try bind(entry.edit.stamp.physical.microseconds, at: offset + 3)
      try bind(Int64(entry.edit.stamp.counter), at: offset + 4)
      try bind(entry.edit.content.storedSchemaVersion, at: offset + 6)
      try bind(entry.base, at: offset + 7)
      if case .rebuild(let rebuilt) = entry.author {
        try bind(rebuilt.pass, at: offset + 25)
        try bind(rebuilt.lastWrite, at: offset + 26)
        try bind(rebuilt.winner?.key, at: offset + 30)
      } else {
        for index in offset + 25...offset + 28 { try bindNull(at: index) }
        try bindNull(at: offset + 30)
      }
    }

    /// Binds the remaining parameters, except the type and the replica.
    ///
    /// Returns the sent edit if it is stored separately, and the text of what the edit leaves.
    private func bindSending(of entry: OutboxEntry) throws(SyncError) -> (sent: Edit?, leaves: String?) {
      let other = try bindSent(entry)
      try bind(entry.state)
      try bind(Int64(entry.attempts), at: 21)
      let leaves =
        entry.leaves.isEmpty ? nil : try encoded(entry.leaves, what: "records that an edit leaves")
      try bind(leaves, at: 29)
      return (other, leaves)
    }

    /// Binds a base without its payload to six parameters.
    private func bind(_ base: OutboxEntry.Base, at index: Int32) throws(SyncError) {
      let stored = base.stored
      try bind(word: stored.word, at: index)
      try bind(stored.version, tag: stored.tag, at: index + 1)
      try bind(stored.schemaVersion, at: index + 5)
    }

    private func bindSent(_ entry: OutboxEntry) throws(SyncError) -> Edit? {
      guard let sent = entry.sentApart else {
        try bind(word: entry.sent == nil ? "nothing" : "edit", at: 13)
        for index in Int32(14)...17 { try bindNull(at: index) }
        return nil
      }
      try bind(word: "other", at: 13)
      try bind(sent.stamp, at: 14)
      try bind(sent.content.storedSchemaVersion, at: 17)
      return sent
    }

    private func bind(_ state: OutboxEntry.State) throws(SyncError) {
      let stored = state.stored
      try bind(word: stored.word, at: 18)
      try bind(stored.time, at: 19)
      try bind(stored.refusal, at: 20)
    }
  }

  // The values that the outbox and the conflict log store in the same form.
  extension Statement {
    /// Binds a record's type and key to two parameters.
    func bind(_ id: RecordID, at index: Int32) throws(SyncError) {
      try bind(id.type.rawValue, at: index)
      try bind(id.key, at: index + 1)
    }

    /// Binds a stamp to three parameters.
    func bind(_ stamp: EditStamp, at index: Int32) throws(SyncError) {
      try bind(stamp.physical.microseconds, at: index)
      try bind(Int64(stamp.counter), at: index + 1)
      try bind(stamp.replica, at: index + 2)
    }
  }
#endif
