#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// Reads and writes within one transaction of the writer's connection.
  final class SQLiteTransaction: SQLiteSnapshot, PageGroupTransaction {
    private(set) var observed = ChangedRecords.records([])
    private let writer: SerialConnection<Connection>
    private var changeCount = 0

    /// The number of changes that another transaction should not add to while the app edits.
    ///
    /// Two ordinary pages have more.
    private static let changesBesideEdits = 600
    /// The number of changes that are enough for a transaction until much has been written.
    ///
    /// They are then copied into the file beside the next pages, instead of after the last one.
    private static let changesAtFirst = 1200

    init(on connection: Connection, of writer: SerialConnection<Connection>) {
      self.writer = writer
      super.init(on: connection)
    }

    var shouldCommit: Bool {
      writer.isAwaited
        || changeCount >= Self.changesBesideEdits && connection.isBesideEdits
        || changeCount >= Self.changesAtFirst && writer.hasQueue && !connection.hasWrittenMuch
    }

    // MARK: Writing

    func apply(_ changes: StoreChanges) throws(SyncError) {
      for type in changes.unmarkedTypes { try unmark(type) }
      if !changes.released.isEmpty { try removeWithheld(changes.released) }
      if !changes.dequeued.isEmpty { try removeFromOutbox(changes.dequeued) }
      if !changes.put.isEmpty { try insertOrReplace(changes.put) }
      if !changes.versions.isEmpty { try updateVersions(changes.versions) }
      if !changes.deleted.isEmpty { try deleteRows(changes.deleted, pending: changes.pendingDeletions) }
      if !changes.dequeued.isEmpty { try forgetKeys(afterSettling: changes) }
      if !changes.withheld.isEmpty { try insertWithheld(changes.withheld) }
      if !changes.marked.isEmpty { try markRows(changes.marked) }
      if !changes.queued.isEmpty { try insertIntoOutbox(changes.queued) }
      if !changes.conflicts.isEmpty { try insertConflicts(changes.conflicts) }
      if let time = changes.forgottenConflicts { try deleteConflicts(settledBefore: time) }
      for number in changes.removedConflicts { try connection.run(ConflictRows.removeOne, .number(number)) }
      for value in changes.values { try keep(value) }
      observed.insert(changes)
      changeCount += changes.put.count + changes.versions.count + changes.deleted.count
    }

    private func insertOrReplace(_ copies: [Record]) throws(SyncError) {
      var writer = RowWriter(self)
      // The consecutive copies without a row.
      var added: [(place: Int, step: Int)] = []
      added.reserveCapacity(EntityTable.rowsAtOnce)
      for place in copies.indices {
        let id = copies[place].id
        let (step, row) = cache.findRow(id)
        if let row {
          try writer.replace(row, by: copies[place])
          continue
        }
        cache.willAdd(id)
        if let step {
          added.append((place, step))
          if added.count == EntityTable.rowsAtOnce { try add(&added, of: copies, by: &writer) }
        } else {
          try writer.put(copies[place])
        }
      }
      try add(&added, of: copies, by: &writer)
    }

    private func add(
      _ places: inout [(place: Int, step: Int)], of copies: [Record], by writer: inout RowWriter
    ) throws(SyncError) {
      if places.count == EntityTable.rowsAtOnce,
        try writer.addMany(copies, at: places)
      {
        // One statement numbers its rows consecutively.
        let first = connection.lastRow - Int64(places.count - 1)
        for (offset, (_, step)) in places.enumerated() { cache.setRow(first + Int64(offset), at: step) }
      } else {
        for (place, step) in places {
          if let row = try writer.put(copies[place]) { cache.setRow(row, at: step) }
        }
      }
      places.removeAll(keepingCapacity: true)
    }

    private func updateVersions(_ copies: [Record]) throws(SyncError) {
      var rows = BatchStatement(self, \.touch)
      var knownRows = BatchStatement(self, \.touchRow)
      for copy in copies {
        let statement: Statement
        if let row = cache.findRow(copy.id).row {
          (statement, _) = try knownRows.demandStatement(for: copy.id, during: "writing")
          try statement.bind(row, at: 1)
        } else {
          (statement, _) = try rows.demand(copy.id, during: "writing")
        }
        try statement.bind(copy.version, tag: copy.entityTag, at: 2)
        try statement.run()
      }
    }

    private func deleteRows(_ tombstones: [Tombstone], pending: Set<RecordID>) throws(SyncError) {
      var rows = BatchStatement(self, \.delete)
      var knownRows = BatchStatement(self, \.deleteRow)
      var rowsForNow = BatchStatement(self, \.deleteRowForNow)
      for tombstone in tombstones {
        let (place, row) = cache.findRow(tombstone.id)
        let statement: Statement
        if let row {
          (statement, _) =
            pending.contains(tombstone.id)
            ? try rowsForNow.demandStatement(for: tombstone.id, during: "deleting")
            : try knownRows.demandStatement(for: tombstone.id, during: "deleting")
          try statement.bind(row, at: 1)
        } else {
          (statement, _) = try rows.demand(tombstone.id, during: "deleting")
          cache.willAdd(tombstone.id)
          // The record gets a row now, which the trail does not contain.
          if place != nil { cache.forgetRows() }
        }
        try statement.bind(tombstone.version, tag: tombstone.entityTag, at: 2)
        try statement.run()
      }
    }

    /// Clears the natural keys of records that stay deleted although their deletion is settled.
    ///
    /// Usually a settled edit comes with the record's next state. It comes without one if the
    /// remote's state cannot be shown here.
    private func forgetKeys(afterSettling changes: StoreChanges) throws(SyncError) {
      var rest = Set(changes.dequeued.filter { catalog.tables[$0.type]?.forgetKeys != nil })
      if rest.isEmpty { return }
      for copy in changes.put { rest.remove(copy.id) }
      for copy in changes.versions { rest.remove(copy.id) }
      for tombstone in changes.deleted { rest.remove(tombstone.id) }
      for id in rest.sorted() {
        guard let sql = catalog.tables[id.type]?.forgetKeys else { continue }
        try connection.run(sql, .text(id.key))
      }
    }

    // MARK: Marks

    private func markRows(_ ids: [RecordID]) throws(SyncError) {
      var statements = BatchStatement(self, \.rowNumber)
      var rows: [Int64] = []
      rows.reserveCapacity(ids.count)
      var type: RecordType?
      let known = cache.rows(ofVery: ids)
      if let known, let first = ids.first?.type, !known.contains(nil), catalog.tables[first] != nil {
        try marks(of: first).mark(known.compactMap(\.self))
        return try cache.flushMarks()
      }
      for id in ids {
        if id.type != type {
          if let type { try marks(of: type).mark(rows) }
          rows.removeAll(keepingCapacity: true)
          type = id.type
        }
        if let row = cache.findRow(id).row {
          rows.append(row)
          continue
        }
        let (statement, _) = try statements.demand(id, during: "marking")
        defer { statement.reset() }
        if try statement.step() { rows.append(statement.integer(0)) }
      }
      if let type { try marks(of: type).mark(rows) }
      try cache.flushMarks()
    }

    private func unmark(_ type: RecordType) throws(SyncError) {
      _ = try catalog.table(type, during: "clearing the marks of \(type)")
      try marks(of: type).clear()
    }

    // MARK: Kept values

    private func keep(_ value: StoreChanges.KeptValue) throws(SyncError) {
      if let bytes = value.bytes {
        try connection.run("INSERT OR REPLACE INTO state VALUES (?, ?)", .text(value.key), .bytes(bytes))
      } else {
        try connection.run("DELETE FROM state WHERE key = ?", .text(value.key))
      }
    }
  }

  extension Statement {
    /// Binds a version and an entity tag to four parameters.
    func bind(_ version: Version, tag: String?, at index: Int32) throws(SyncError) {
      try bind(version.epoch, at: index)
      try bind(version.sequence, at: index + 1)
      try bind(version.modifiedAt.microseconds, at: index + 2)
      try bind(tag, at: index + 3)
    }

    /// Binds a version and an entity tag, or nothing, to four parameters.
    func bind(_ version: Version?, tag: String?, at index: Int32) throws(SyncError) {
      if let version { return try bind(version, tag: tag, at: index) }
      for index in index...index + 3 { try bindNull(at: index) }
    }
  }
#endif
