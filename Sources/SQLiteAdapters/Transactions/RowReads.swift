#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  // Reads rows in portions, and the counts of a type.

  extension SQLiteSnapshot {
    func rows(
      _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
    ) throws(SyncError) -> [StoredRow] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      // Usually every row is marked, and the marks alone show this. A scan of the rows would cost
      // as much as listing them.
      if selection == .unmarked, key == nil, try rowCounts(table).unmarked == 0 { return [] }
      let statement = try connection.statement(
        """
        SELECT \(table.recordColumns), row FROM \(table.name) \
        WHERE \(selection == .unmarked ? "payload IS NOT NULL AND " : "")id > ? ORDER BY id
        """)
      // Keys are never empty, so all of them come after the empty string.
      try statement.bind(key ?? "", at: 1)
      defer { statement.reset() }
      let bitmap = marks(of: type)
      var found: [StoredRow] = []
      while found.count < limit, try statement.step() {
        let isMarked = try bitmap.isMarked(statement.integer(table.columnBehindRecord))
        if isMarked, selection == .unmarked { continue }
        found.append(
          StoredRow(
            id: RecordID(type: type, key: statement.text(0)), version: statement.version(1),
            entityTag: statement.optionalText(4),
            record: statement.isNull(EntityTable.payloadColumn) ? nil : statement.record(of: table),
            isMarked: isMarked))
      }
      return found
    }

    func counts(_ type: RecordType, rows: Bool) throws(SyncError) -> TypeCounts {
      TypeCounts(
        withheld: try withheldCounts(type), pending: try outboxCount(type),
        rows: rows ? try catalog.tables[type].map(rowCounts) ?? .init(live: 0, unmarked: 0) : nil)
    }

    private func rowCounts(_ table: EntityTable) throws(SyncError) -> TypeCounts.Rows {
      let live = try liveCount(table)
      let marked = try marks(of: table.entity.type).count()
      return TypeCounts.Rows(live: live, unmarked: live - (marked - (try markedDeletions(table))))
    }

    /// The number of marks on rows that only record a deletion.
    private func markedDeletions(_ table: EntityTable) throws(SyncError) -> Int {
      let statement = try connection.statement("SELECT row FROM \(table.name) WHERE payload IS NULL")
      defer { statement.reset() }
      let bitmap = marks(of: table.entity.type)
      var count = 0
      while try statement.step() {
        if try bitmap.isMarked(statement.integer(0)) { count += 1 }
      }
      return count
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
  }

  /// Whether a live record refers to another through one reference.
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
      // Ids are never null, so null excludes no record. Only a record's reference to itself does
      // not count.
      try statement.bind(names + [.text(id.key), id.type == type ? .text(id.key) : .field(.null)])
      return try statement.step()
    }
  }
#endif
