#if Postgres
  import SyncModels
  import SyncPorts

  /// The columns of the conflict log, besides the number.
  private enum ConflictColumn: Int, TableColumn {
    case type, key, settledAt, winner, reason, localPhysical, localCounter, localReplica, localSchemaVersion,
      remote, remoteEpoch, remoteSequence, remoteModifiedAt, remoteEntityTag, remoteSchemaVersion,
      remotePhysical, remoteCounter, remoteReplica, localPayload, remotePayload, basePayload

    var element: ColumnArray.Element {
      switch self {
      case .type, .winner, .remote: .text
      case .key, .reason, .localReplica, .remoteEntityTag, .remoteReplica, .localPayload, .remotePayload,
        .basePayload:
        .bytes
      case .settledAt, .localPhysical, .localCounter, .localSchemaVersion, .remoteEpoch, .remoteSequence,
        .remoteModifiedAt, .remoteSchemaVersion, .remotePhysical, .remoteCounter:
        .int64
      }
    }
  }

  /// The statements of the conflict log.
  private enum ConflictRows {
    static let columns = ConflictColumn.names.joined(separator: ", ")
    static let add = """
      INSERT INTO conflicts (\(columns)) SELECT \(columns) FROM \
      unnest(\(ConflictColumn.elements.placeholders())) \
      WITH ORDINALITY AS k(\(columns), n) ORDER BY n
      """
  }

  extension PostgresSnapshot {
    func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict] {
      guard limit > 0 else { return [] }
      let sql = """
        SELECT \(ConflictRows.columns), number FROM conflicts WHERE number < $1::bigint \
        \(type == nil ? "" : "AND type = $3::text") ORDER BY \(type == nil ? "" : "type DESC, ")number DESC LIMIT $2::bigint
        """
      let rows = try query(sql, during: "reading the conflicts") { parameters in
        parameters.add(before ?? Int64.max)
        parameters.add(Int64(limit))
        if let type { parameters.add(text: type.rawValue) }
      }
      return try rows.map { (row) throws(SyncError) in try TableRow<ConflictColumn>(row).conflict() }
    }
  }

  extension PostgresTransaction {
    func insertConflicts(_ conflicts: [Conflict]) throws(SyncError) {
      var columns = TableArrays<ConflictColumn>()
      for conflict in conflicts { try columns.append(conflict) }
      connection.enqueue(Statement(ConflictRows.add) { $0.add(columns.arrays) })
    }

    func deleteConflicts(settledBefore instant: Timestamp) {
      connection.enqueue(
        Statement("DELETE FROM conflicts WHERE settled_at < $1::bigint") { $0.add(instant.microseconds) })
    }
  }

  extension TableArrays<ConflictColumn> {
    fileprivate mutating func append(_ conflict: Conflict) throws(SyncError) {
      self[.type].append(conflict.id.type.rawValue)
      self[.key].append(conflict.id.key)
      self[.settledAt].append(conflict.settledAt.microseconds)
      self[.winner].append(conflict.winner.rawValue)
      self[.reason].append(conflict.reason)
      append(conflict.local.stamp, at: .localPhysical)
      append(schemaVersionOf: conflict.local.content, at: .localSchemaVersion)
      switch conflict.remote {
      case .upsert(let record):
        self[.remote].append("upsert")
        append(record.version, tag: record.entityTag, at: .remoteEpoch)
        self[.remoteSchemaVersion].append(Int64(record.schemaVersion))
        self[.remotePayload].append(record.payload.bytes)
      case .tombstone(let tombstone):
        self[.remote].append("tombstone")
        append(tombstone.version, tag: tombstone.entityTag, at: .remoteEpoch)
        self[.remoteSchemaVersion].appendNull()
        self[.remotePayload].appendNull()
      case .malformed:
        throw SyncError(
          .invalidConfiguration, during: "logging a conflict over \(conflict.id)",
          "The remote state must be a copy or a tombstone.")
      }
      append(conflict.remoteStamp, at: .remotePhysical)
      self[.localPayload].append(conflict.local.content.payload?.bytes)
      self[.basePayload].append(conflict.base?.bytes)
    }
  }

  extension TableRow<ConflictColumn> {
    /// Reads the conflict from a row of ``ConflictRows/columns`` and its number.
    fileprivate func conflict() throws(SyncError) -> Conflict {
      let id = RecordID(type: RecordType(text(.type)), key: text(.key))
      guard let winner = Conflict.Winner(rawValue: text(.winner)) else {
        throw SyncError(
          .storeUnreadable, during: "reading the conflicts", "One has a winner that does not exist.")
      }
      let remote: RecordChange =
        isNull(.remoteSchemaVersion)
        ? .tombstone(
          Tombstone(id: id, version: version(.remoteEpoch), entityTag: optionalText(.remoteEntityTag)))
        : .upsert(
          Record(
            id: id, version: version(.remoteEpoch), entityTag: optionalText(.remoteEntityTag),
            schemaVersion: Int(integer(.remoteSchemaVersion)),
            payload: Payload(bytes(.remotePayload)), fields: []))
      return Conflict(
        number: integerBehind, id: id, settledAt: time(.settledAt),
        local: Edit(
          content(payload: .localPayload, schemaVersion: .localSchemaVersion), stamp: stamp(.localPhysical)),
        remote: remote,
        remoteStamp: stamp(.remotePhysical), base: isNull(.basePayload) ? nil : Payload(bytes(.basePayload)),
        winner: winner, reason: text(.reason))
    }
  }
#endif
