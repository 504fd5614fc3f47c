#if Postgres
  import SyncModels
  import SyncPorts

  /// The columns of the conflict log.
  private enum ConflictRows {
    static let names = [
      "type", "key", "settled_at", "winner", "reason", "local_physical", "local_counter", "local_replica",
      "local_schema_version", "remote", "remote_epoch", "remote_sequence", "remote_modified_at",
      "remote_entity_tag", "remote_schema_version", "remote_physical", "remote_counter", "remote_replica",
      "local_payload", "remote_payload", "base_payload",
    ]
    static let elements: [ColumnArray.Element] = [
      .text, .bytes, .int64, .text, .bytes, .int64, .int64, .bytes, .int64, .text, .int64, .int64, .int64,
      .bytes, .int64, .int64, .int64, .bytes, .bytes, .bytes, .bytes,
    ]
    static let columns = names.joined(separator: ", ")
    static let add = """
      INSERT INTO conflicts (\(columns)) SELECT \(columns) FROM \
      unnest(\(elements.placeholders())) \
      WITH ORDINALITY AS k(\(columns), n) ORDER BY n
      """
  }

  extension PostgresSnapshot {
    func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict] {
      guard limit > 0 else { return [] }
      let sql = """
        SELECT number, \(ConflictRows.columns) FROM conflicts WHERE number < $1::bigint \
        \(type == nil ? "" : "AND type = $3::text") ORDER BY \(type == nil ? "" : "type DESC, ")number DESC LIMIT $2::bigint
        """
      let rows = try query(sql, during: "reading the conflicts") { parameters in
        parameters.add(before ?? Int64.max)
        parameters.add(Int64(limit))
        if let type { parameters.add(text: type.rawValue) }
      }
      return try rows.map { (row) throws(SyncError) in try row.conflict() }
    }
  }

  extension PostgresTransaction {
    func insertConflicts(_ conflicts: [Conflict]) throws(SyncError) {
      var columns = ConflictRows.elements.map { ColumnArray($0) }
      for conflict in conflicts { try columns.append(conflict) }
      connection.enqueue(Statement(ConflictRows.add) { $0.add(columns) })
    }

    func deleteConflicts(settledBefore instant: Timestamp) {
      connection.enqueue(
        Statement("DELETE FROM conflicts WHERE settled_at < $1::bigint") { $0.add(instant.microseconds) })
    }
  }

  extension [ColumnArray] {
    fileprivate mutating func append(_ conflict: Conflict) throws(SyncError) {
      self[0].append(conflict.id.type.rawValue)
      self[1].append(conflict.id.key)
      self[2].append(conflict.settledAt.microseconds)
      self[3].append(conflict.winner.rawValue)
      self[4].append(conflict.reason)
      append(conflict.local.stamp, at: 5)
      append(schemaVersionOf: conflict.local.content, at: 8)
      switch conflict.remote {
      case .upsert(let record):
        self[9].append("upsert")
        append(record.version, tag: record.entityTag, at: 10)
        self[14].append(Int64(record.schemaVersion))
        self[19].append(record.payload.bytes)
      case .tombstone(let tombstone):
        self[9].append("tombstone")
        append(tombstone.version, tag: tombstone.entityTag, at: 10)
        self[14].appendNull()
        self[19].appendNull()
      case .malformed:
        throw SyncError(
          .invalidConfiguration, during: "logging a conflict over \(conflict.id)",
          "The remote state must be a copy or a tombstone.")
      }
      append(conflict.remoteStamp, at: 15)
      self[18].append(conflict.local.content.payload?.bytes)
      self[20].append(conflict.base?.bytes)
    }
  }

  extension ResultRow {
    /// Reads the conflict from a row of its number and ``ConflictRows/columns``.
    fileprivate func conflict() throws(SyncError) -> Conflict {
      let id = RecordID(type: RecordType(text(1)), key: text(2))
      guard let winner = Conflict.Winner(rawValue: text(4)) else {
        throw SyncError(
          .storeUnreadable, during: "reading the conflicts", "One has a winner that does not exist.")
      }
      let remote: RecordChange =
        isNull(15)
        ? .tombstone(Tombstone(id: id, version: version(11), entityTag: optionalText(14)))
        : .upsert(
          Record(
            id: id, version: version(11), entityTag: optionalText(14), schemaVersion: Int(integer(15)),
            payload: Payload(bytes(20)), fields: []))
      return Conflict(
        number: integer(0), id: id, settledAt: Timestamp(microseconds: integer(3)),
        local: Edit(content(payload: 19, schemaVersion: 9), stamp: stamp(6)), remote: remote,
        remoteStamp: stamp(16), base: isNull(21) ? nil : Payload(bytes(21)), winner: winner, reason: text(5))
    }
  }
#endif
