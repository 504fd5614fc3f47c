#if SQLite
  import SyncModels
  import SyncPorts

  /// Reads and writes within one transaction of the writer's connection.
  final class SQLiteTransaction: SQLiteSnapshot, StoreTransaction {
    private var trail = RowTrail()
    // Whether what the connection knows has been held against what others have written.
    private var isKnowledgeFresh = false

    func states(of copies: [Record]) throws(SyncError) -> [StoredState?] {
      var states: [StoredState?] = []
      states.reserveCapacity(copies.count)
      trail = RowTrail(over: copies)
      if copies.areInOrder, let type = copies.first?.id.type, let table = catalog.tables[type] {
        let statement = try connection.statement(table.statesFrom)
        var walk = StateWalk(statement)
        defer { statement.clear() }
        let book = marks(of: type)
        for copy in copies {
          if walk.isGivenUp { break }
          let found = try walk.find(copy, marks: book)
          trail.append(row: found?.row)
          states.append(found?.state)
        }
        while states.count < copies.count {
          let batch = copies[states.count...].prefix(EntityTable.lookupsAtOnce)
          for found in try connection.statement(table.statesOfMany).states(of: batch, marks: book) {
            trail.append(row: found?.row)
            states.append(found?.state)
          }
        }
        return states
      }
      var rows = BatchStatement(self, \.stateOfCopy)
      for copy in copies {
        guard let statement = try rows.statement(for: copy.id), try mayHaveRow(copy.id) else {
          trail.append(row: nil)
          states.append(nil)
          continue
        }
        let found = try statement.run(lending: copy.payload.bytes, at: 2) { () throws(SyncError) in
          try statement.withLent(copy.id.key, at: 1) { () throws(SyncError) in
            try stored(copy.id.type, statement)
          }
        }
        trail.append(row: found?.row)
        states.append(found?.state)
      }
      return states
    }

    /// Whether it is worth looking for a record's row.
    private func mayHaveRow(_ id: RecordID) throws(SyncError) -> Bool {
      try refreshKnowledge()
      if let wasEmpty = connection.newRecords.wasEmpty(id.type) {
        return !wasEmpty || connection.newRecords.mayContain(id)
      }
      let table = try catalog.table(id.type, during: "reading \(id.type)")
      let statement = try connection.statement(table.anyRow)
      defer { statement.reset() }
      let hasRows = try statement.step()
      connection.newRecords.note(id.type, isEmpty: !hasRows)
      return hasRows
    }

    func states(of tombstones: [Tombstone]) throws(SyncError) -> [StoredState?] {
      var states: [StoredState?] = []
      states.reserveCapacity(tombstones.count)
      var rows = BatchStatement(self, \.state)
      for tombstone in tombstones {
        guard let statement = try rows.select(tombstone.id) else {
          states.append(nil)
          continue
        }
        states.append(try stored(tombstone.id.type, statement)?.state)
      }
      return states
    }

    func absent(among ids: [RecordID]) throws(SyncError) -> [RecordID] {
      try refreshKnowledge()
      var absent: [RecordID] = []
      var rows = BatchStatement(self, \.liveness)
      for id in ids {
        guard let statement = try rows.statement(for: id) else {
          absent.append(id)
          continue
        }
        if connection.knownRecords.contains(id) { continue }
        try statement.withLent(id.key, at: 1) { () throws(SyncError) in
          defer { statement.reset() }
          if try statement.step() { connection.knownRecords.insert(id) } else { absent.append(id) }
        }
      }
      return absent
    }

    func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
      var referenced: Set<RecordID> = []
      for table in catalog.tables.values {
        for reference in table.entity.references where reference.isOrdered {
          let compiler = ReferenceQuery(reference, in: table)
          let statement = try connection.statement(compiler.sql)
          defer { statement.clear() }
          for id in ids where id.type == reference.target && !referenced.contains(id) {
            if try compiler.finds(id, by: statement) { referenced.insert(id) }
          }
        }
      }
      return referenced
    }

    override func hasFound(_ trail: RowTrail) {
      self.trail = trail
    }

    // MARK: What is known

    /// To be called before what the connection knows is relied on.
    func refreshKnowledge() throws(SyncError) {
      if isKnowledgeFresh { return }
      try connection.refreshWhatIsKnown()
      isKnowledgeFresh = true
    }

    override func knowsEdits() throws(SyncError) -> Bool {
      try refreshKnowledge()
      return !connection.knownEdits.isEmpty
    }

    override func knownEdit(_ id: RecordID) -> OutboxEntry? {
      connection.knownEdits.find(id).flatMap { connection.knownEdits.entry(at: $0) }
    }

    override func forgetEdits() throws(SyncError) {
      try refreshKnowledge()
      connection.knownEdits.forget()
    }

    override func hasRead(_ entry: OutboxEntry, in row: Int64) {
      connection.knownEdits.append(entry, in: row)
    }

    // MARK: Writing records

    func put(_ copies: [Record]) throws(SyncError) {
      var writer = RowWriter(self)
      // Where the copies stand that are met one after another and have no row yet.
      var added: [(place: Int, step: Int)] = []
      added.reserveCapacity(EntityTable.rowsAtOnce)
      for place in copies.indices {
        let (step, row) = trail.find(copies[place].id)
        if let row {
          try writer.replace(row, by: copies[place])
          continue
        }
        connection.newRecords.insert(copies[place].id)
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
        // The rows of one statement are numbered one after another.
        let first = connection.lastRow - Int64(places.count - 1)
        for (offset, (_, step)) in places.enumerated() { trail.set(first + Int64(offset), at: step) }
      } else {
        for (place, step) in places {
          try writer.put(copies[place])
          trail.set(connection.lastRow, at: step)
        }
      }
      places.removeAll(keepingCapacity: true)
    }

    func touch(_ copies: [Record]) throws(SyncError) {
      var rows = BatchStatement(self, \.touch)
      var knownRows = BatchStatement(self, \.touchRow)
      for copy in copies {
        let statement: Statement
        if let row = trail.find(copy.id).row {
          (statement, _) = try knownRows.demandStatement(for: copy.id, during: "writing")
          try statement.bind(row, at: 1)
        } else {
          (statement, _) = try rows.demand(copy.id, during: "writing")
        }
        try statement.bind(copy.version, tag: copy.entityTag, at: 2)
        try statement.run()
      }
    }

    func delete(_ tombstones: [Tombstone]) throws(SyncError) {
      try delete(tombstones, by: \.deleteRow)
    }

    func deletePending(_ tombstones: [Tombstone]) throws(SyncError) {
      try delete(tombstones, by: \.deleteRowForNow)
    }

    private func delete(
      _ tombstones: [Tombstone], by knownRow: KeyPath<EntityTable, String>
    ) throws(SyncError) {
      var rows = BatchStatement(self, \.delete)
      var knownRows = BatchStatement(self, knownRow)
      for tombstone in tombstones {
        connection.knownRecords.remove(tombstone.id)
        let (place, row) = trail.find(tombstone.id)
        let statement: Statement
        if let row {
          (statement, _) = try knownRows.demandStatement(for: tombstone.id, during: "deleting")
          try statement.bind(row, at: 1)
        } else {
          (statement, _) = try rows.demand(tombstone.id, during: "deleting")
          connection.newRecords.insert(tombstone.id)
          // It gets a row now, of which the trail does not know.
          if place != nil { trail = RowTrail() }
        }
        try statement.bind(tombstone.version, tag: tombstone.entityTag, at: 2)
        try statement.run()
      }
    }

    // MARK: Marks

    func mark(_ ids: [RecordID]) throws(SyncError) {
      var statements = BatchStatement(self, \.rowNumber)
      var rows: [Int64] = []
      rows.reserveCapacity(ids.count)
      var type: RecordType?
      for id in ids {
        if id.type != type {
          if let type { try marks(of: type).mark(rows) }
          rows.removeAll(keepingCapacity: true)
          type = id.type
        }
        if let row = trail.find(id).row {
          rows.append(row)
          continue
        }
        let (statement, _) = try statements.demand(id, during: "marking")
        defer { statement.reset() }
        if try statement.step() { rows.append(statement.integer(0)) }
      }
      if let type { try marks(of: type).mark(rows) }
      try flushMarks()
    }

    func clearMarks(_ type: RecordType) throws(SyncError) {
      _ = try catalog.table(type, during: "clearing the marks of \(type)")
      try marks(of: type).clear()
    }

    // MARK: Small state

    func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
      let statement = try connection.statement("INSERT OR REPLACE INTO checkpoints VALUES (?, ?)")
      try statement.bind(type.rawValue, at: 1)
      try statement.bind(try encoded(checkpoint, what: "checkpoint of \(type)"), at: 2)
      try statement.run()
    }

    func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError) {
      guard let value else {
        let statement = try connection.statement("DELETE FROM state WHERE key = ?")
        try statement.bind(key, at: 1)
        return try statement.run()
      }
      let statement = try connection.statement("INSERT OR REPLACE INTO state VALUES (?, ?)")
      try statement.bind(key, at: 1)
      try statement.bind(value, at: 2)
      try statement.run()
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
  }

  /// Whether some live record refers to another by one reference.
  private struct ReferenceQuery {
    let sql: String
    private let type: RecordType
    private let names: [Parameter]

    init(_ reference: Reference, in table: EntityTable) {
      var compiler = ConditionCompiler(table)
      let value = compiler.value(reference.field)
      names = compiler.parameters
      type = table.entity.type
      sql = """
        SELECT 1 FROM \(table.name) WHERE payload IS NOT NULL AND \(value) = ? AND id IS NOT ? LIMIT 1
        """
    }

    func finds(_ id: RecordID, by statement: Statement) throws(SyncError) -> Bool {
      defer { statement.reset() }
      // No id is null, so a null excludes nobody; only a record's reference to itself does not count.
      try statement.bind(names + [.text(id.key), id.type == type ? .text(id.key) : .field(.null)])
      return try statement.step()
    }
  }
#endif
