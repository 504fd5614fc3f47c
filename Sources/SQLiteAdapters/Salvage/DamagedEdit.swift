#if SQLite
  import SyncModels
  import SyncPorts

  extension Connection {
    /// Reads an edit whose entry is damaged; `nil` without a record or its content.
    ///
    /// Columns are read in groups, because SQLite may reach only some of them. A group that makes
    /// no sense gets the values of a new edit.
    func damagedEdit(_ number: Int64) throws(SyncError) -> OutboxEntry? {
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
        guard error.isOfDamagedStore else { throw error }
        return nil
      }
    }
  }

  extension Statement {
    /// Reads a record and the content of its edit from four columns, without noting damage.
    fileprivate func damagedContent(_ column: Int) -> (RecordID, Edit.Content)? {
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
