#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension ConflictColumn: TableColumn {
    static let key: [Part] = [("key", .bytes)]

    var element: ColumnArray.Element {
      switch self {
      case .type, .winner, .remote: .text
      case .id, .reason, .localReplica, .remoteEntityTag, .remoteReplica, .localPayload, .remotePayload,
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
      return try rows.map { (row) throws(SyncError) in try TableRow(KeyedRow<ConflictColumn>(row)).conflict()
      }
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

    func deleteConflicts(_ numbers: [Int64]) {
      var column = ColumnArray(.int64)
      for number in numbers { column.append(number) }
      connection.enqueue(
        Statement("DELETE FROM conflicts WHERE number = ANY ($1::bigint[])") { [column] in $0.add(column) })
    }
  }

  extension TableArrays<ConflictColumn> {
    fileprivate mutating func append(_ conflict: Conflict) throws(SyncError) {
      self[.type].append(conflict.id.type.rawValue)
      self[.id].append(conflict.id.key)
      self[.settledAt].append(conflict.settledAt.microseconds)
      self[.winner].append(conflict.winner.rawValue)
      self[.reason].append(conflict.reason)
      append(conflict.local.stamp, at: .localPhysical)
      self[.localSchemaVersion].append(conflict.local.content.storedSchemaVersion)
      let remote = try conflict.storedRemote()
      self[.remote].append(remote.word)
      append(remote.version, tag: remote.tag, at: .remoteEpoch)
      self[.remoteSchemaVersion].append(remote.schemaVersion)
      self[.remotePayload].append(remote.payload?.bytes)
      append(conflict.remoteStamp, at: .remotePhysical)
      self[.localPayload].append(conflict.local.content.payload?.bytes)
      self[.basePayload].append(conflict.base?.bytes)
    }
  }
#endif
