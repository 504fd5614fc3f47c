#if SQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  // The edits, in both readings of a damaged log. Either may have the newer one. Of two edits of a
  // record, the one with the later stamp counts, and no edit is left out, because one too many is
  // settled by the next push.
  extension SQLiteSalvage {
    func outbox(after place: SalvagePlace?) async throws(SyncError) -> SalvagePortion {
      if case .key(_, let number) = place { return try await otherEdits(after: Int64(number)) }
      if place == nil { taken.withLock { $0 = [] } }
      var portion = try await connection.run { connection throws(SyncError) in
        try Self.outbox(connection, after: place?.number)
      }
      guard opening.hasOther else { return portion }
      do throws(SyncError) {
        try await other.run { _ in }
      } catch {
        guard error.isOfDamagedFile else { throw error }
        portion.losses.append(opening.leaveOther())
        return portion
      }
      for (place, entry) in portion.entries.enumerated() {
        guard case .edit(let own) = entry else { continue }
        taken.withLock { _ = $0.insert(own.id) }
        guard let found = try await otherEdit(of: own.id), own.edit.stamp < found.edit.stamp else {
          continue
        }
        portion.entries[place] = .edit(found)
      }
      portion.next = portion.next ?? Self.otherPlace(nil)
      return portion
    }

    private static func otherPlace(_ number: Int64?) -> SalvagePlace {
      .key("other", number.map { "\($0)" } ?? "")
    }

    /// Reads the edits of records that have none in the first reading.
    private func otherEdits(after number: Int64?) async throws(SyncError) -> SalvagePortion {
      let found = try await other.run { connection throws(SyncError) in
        try Self.outbox(connection, after: number)
      }
      var portion = SalvagePortion(losses: found.losses)
      if let number = found.next?.number { portion.next = Self.otherPlace(number) }
      let taken = taken.withLock(\.self)
      portion.entries = found.entries.filter { entry in
        if case .edit(let edit) = entry { !taken.contains(edit.id) } else { false }
      }
      return portion
    }

    /// Looks an edit up in the other reading; `nil` if none can be read.
    private func otherEdit(of id: RecordID) async throws(SyncError) -> OutboxEntry? {
      do throws(SyncError) {
        return try await other.run { connection throws(SyncError) -> OutboxEntry? in
          try connection.transaction(.read) { () throws(SyncError) -> OutboxEntry? in
            let statement = try connection.statement(
              "SELECT \(OutboxRows.columns) FROM outbox WHERE type = ? AND id = ?")
            defer { statement.reset() }
            try statement.bind(id.type.rawValue, at: 1)
            try statement.bind(id.key, at: 2)
            return try statement.step() ? try statement.outboxEntry(of: id.type) : nil
          }
        }
      } catch {
        guard error.isOfDamagedFile else { throw error }
        return nil
      }
    }

    /// Reads edits strictly, and those with a damaged column as far as they make sense.
    static func outbox(_ connection: Connection, after start: Int64?) throws(SyncError)
      -> SalvagePortion
    {
      guard try connection.hasTable("outbox") else {
        return SalvagePortion(losses: [SalvageLoss(.outbox, "the table outbox is missing")])
      }
      let scan = RowScan(connection, table: "outbox", number: "entry", columns: OutboxRows.columns)
      var found = try scan.rows(after: start, limit: portion) { statement throws(SyncError) -> OutboxEntry? in
        try statement.outboxEntry(of: RecordType(statement.text(0)))
      }
      var unreadable: [Int64] = []
      for number in found.unreadable {
        if let entry = try connection.damagedEdit(number) {
          found.rows.append(entry)
        } else {
          unreadable.append(number)
        }
      }
      found.unreadable = unreadable
      var losses = found.losses(.outbox, nil)
      if found.reached == nil { losses += try connection.missingEdits() }
      return SalvagePortion(
        found.rows.map { .edit($0) }, losses: losses, next: found.reached.map { .row($0) })
    }
  }

  extension Connection {
    /// The edits that the index has, and the table has not.
    ///
    /// A page that says it has fewer rows than it had is no damage to SQLite.
    fileprivate func missingEdits() throws(SyncError) -> [SalvageLoss] {
      try missing(
        "SELECT entry, type, id FROM outbox INDEXED BY \"outbox.record\"",
        from: "SELECT 1 FROM outbox NOT INDEXED WHERE entry = ?"
      ) { row in
        SalvageLoss(
          .outbox, type: row.value(1).text.map { RecordType($0) }, key: row.value(2).text,
          "the edit is listed, and missing")
      }
    }

    /// The conflicts that the index has, and the table has not.
    func missingConflicts() throws(SyncError) -> [SalvageLoss] {
      try missing(
        "SELECT number, type FROM conflicts INDEXED BY \"conflicts.type\"",
        from: "SELECT 1 FROM conflicts NOT INDEXED WHERE number = ?"
      ) { row in
        SalvageLoss(
          .conflicts, type: row.value(1).text.map { RecordType($0) }, key: "\(row.integer(0))",
          "the conflict is listed, and missing")
      }
    }

    /// Looks up what an index lists. Nothing is known where either cannot be read.
    private func missing(
      _ index: String, from table: String, loss: (Statement) -> SalvageLoss
    ) throws(SyncError) -> [SalvageLoss] {
      var losses: [SalvageLoss] = []
      do throws(SyncError) {
        try transaction(.read) { () throws(SyncError) in
          let lookup = try statement(table)
          try forEachRow(index) { row throws(SyncError) in
            defer { lookup.reset() }
            try lookup.bind(row.integer(0), at: 1)
            if try !lookup.step() { losses.append(loss(row)) }
          }
        }
      } catch {
        guard error.isOfDamagedFile else { throw error }
      }
      return losses
    }

    /// Reads an edit whose entry is damaged; `nil` without a record or its content.
    ///
    /// Columns are read in groups, because SQLite may reach only some of them. A group that makes
    /// no sense gets the values of a new edit.
    fileprivate func damagedEdit(_ number: Int64) throws(SyncError) -> OutboxEntry? {
      let edit = try group("type, id, schema_version, payload", of: number) { row in row.damagedContent(0) }
      guard let (id, content) = edit else { return nil }
      let stamp = try group("physical, counter, replica", of: number) { row in
        EditStamp(
          physical: Timestamp(microseconds: row.integer(0)), counter: UInt32(clamping: row.integer(1)),
          replica: row.value(2).text ?? "")
      }
      let columns =
        "base, base_epoch, base_sequence, base_modified_at, base_entity_tag, base_schema_version, base_payload"
      let base = try group(columns, of: number) { row in row.damagedBase(of: id) }
      return OutboxEntry(
        id: id, edit: Edit(content, stamp: stamp ?? EditStamp(physical: Timestamp(microseconds: 0))),
        base: base ?? .none)
    }

    /// Reads some columns of an outbox entry; `nil` if SQLite cannot reach them.
    private func group<Value>(
      _ columns: String, of number: Int64, _ read: (Statement) -> Value?
    ) throws(SyncError) -> Value? {
      do throws(SyncError) {
        return try transaction(.read) { () throws(SyncError) -> Value? in
          let statement = try statement("SELECT \(columns) FROM outbox WHERE entry = ?")
          defer { statement.reset() }
          try statement.bind(number, at: 1)
          return try statement.step() ? read(statement) : nil
        }
      } catch {
        guard error.isOfDamagedFile else { throw error }
        return nil
      }
    }
  }

  extension Statement {
    /// Reads a record and the content of its edit from four columns, without noting damage.
    fileprivate func damagedContent(_ column: Int32) -> (RecordID, Edit.Content)? {
      guard let type = value(column).text, !type.isEmpty, let key = value(column + 1).text, !key.isEmpty
      else { return nil }
      let id = RecordID(type: RecordType(type), key: key)
      if isNull(column + 3) { return isNull(column + 2) ? (id, .deletion) : nil }
      let schemaVersion = Int(max(1, min(integer(column + 2), Int64(Int32.max))))
      return (id, .upsert(Payload(bytes(column + 3)), schemaVersion: schemaVersion))
    }

    /// Reads a base from seven columns, without noting damage.
    fileprivate func damagedBase(of id: RecordID) -> OutboxEntry.Base {
      let version = Version(
        epoch: integer(1), sequence: integer(2), modifiedAt: Timestamp(microseconds: integer(3)))
      let tag = value(4).text
      if holds("copy", in: 0), !isNull(6) {
        return .copy(
          Record(
            id: id, version: version, entityTag: tag, schemaVersion: Int(max(1, min(integer(5), 1 << 31))),
            payload: Payload(bytes(6)), fields: []))
      }
      return holds("deleted", in: 0) ? .deleted(Tombstone(id: id, version: version, entityTag: tag)) : .none
    }
  }
#endif
