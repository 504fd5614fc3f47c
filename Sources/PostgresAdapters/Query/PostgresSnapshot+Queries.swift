#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension PostgresSnapshot {
    func records(_ query: Query) throws(SyncError) -> [Record] {
      let table = try catalog.table(query.type, during: "reading \(query.type)")
      let limit = query.limit.map { max(0, $0) }
      if limit == 0 { return [] }
      let compiled = CompiledQuery(query, in: table)
      guard compiled.isWhole else { return try records(query, in: table, compiled, limit: limit ?? .max) }
      var rest = "FROM \(table.name) AS r WHERE \(compiled.condition) ORDER BY \(compiled.order)"
      // As a parameter, the limit would be unknown to a plan that is kept.
      if let limit { rest += " LIMIT \(limit)" }
      if let rows = try readAlone(
        { table.alone(rest, writer: $0) }, compiled.parameters, during: "reading \(query.type)")
      {
        var records: [Record] = []
        records.reserveCapacity(rows.count - 1)
        for row in rows where !row.isOfHeader {
          records.append(row.record(of: table, from: StoreHeader.columnCount))
        }
        return records
      }
      // A plan of its own for each query: what a condition selects depends on its values.
      let rows = try connection.query(
        Statement(
          "SELECT \(table.recordColumns) \(rest)", compiled.parameters, isKept: query.condition == nil),
        during: "reading \(query.type)")
      return rows.map { $0.record(of: table) }
    }

    /// Runs a query in one statement with the header, if nothing was read before.
    ///
    /// - Parameter sql: The statement, whose parameter with a number is the store's writer.
    private func readAlone(
      _ sql: (_ writer: Int) -> String, _ parameters: Parameters, during operation: @autoclosure () -> String
    ) throws(SyncError) -> ResultRows? {
      let start = ContinuousClock.now
      var kept: String?
      let rows = try connection.readAlone(
        .query,
        { writer in
          var parameters = parameters
          parameters.add(bytes: writer)
          let sql = sql(parameters.count)
          let isKept = connection.memory.plans.keeps(sql)
          if isKept { kept = sql }
          return Statement(sql, parameters, isKept: isKept)
        }, during: operation())
      if let kept { connection.memory.plans.note(kept, took: ContinuousClock.now - start) }
      return rows
    }

    func count(_ query: Query) throws(SyncError) -> Int {
      let table = try catalog.table(query.type, during: "counting \(query.type)")
      var all = query
      all.order = []
      let compiled = CompiledQuery(all, in: table)
      guard compiled.isWhole else { return try records(all, in: table, compiled, limit: .max).count }
      let sql = "SELECT count(*) FROM \(table.name) AS r WHERE \(compiled.condition)"
      if let rows = try readAlone(
        { "SELECT h.*, (\(sql)) FROM (\(StoreHeader.sql(writer: $0))) AS h" }, compiled.parameters,
        during: "counting \(query.type)")
      {
        return Int(rows.first?.integer(StoreHeader.columnCount) ?? 0)
      }
      let rows = try connection.query(
        Statement(sql, compiled.parameters, isKept: query.condition == nil), during: "counting \(query.type)")
      return Int(rows.first?.integer(0) ?? 0)
    }

    /// Reads a query over fields without a column, which only payloads have.
    private func records(
      _ query: Query, in table: EntityTable, _ compiled: CompiledQuery, limit: Int
    ) throws(SyncError) -> [Record] {
      var found: [Record] = []
      let isByKey = query.order.isEmpty
      try forEachRecord(
        of: table, after: query.afterKey, where: compiled.clause,
        compiled.conditionParameters
      ) { record throws(SyncError) in
        if compiled.residual?.isSatisfied(by: record, of: table.entity) ?? true { found.append(record) }
        return !(isByKey && found.count >= limit)
      }
      if isByKey { return found }
      let names = query.order.map(\.field)
      var sortable: [(record: Record, values: [FieldValue])] = []
      for record in found {
        let values = zip(query.order, values(of: names, in: record, table)).map { $0.value(of: $1) }
        sortable.append((record, values))
      }
      sortable.sort { a, b in
        for (place, field) in query.order.enumerated() {
          if a.values[place] < b.values[place] { return !field.isDescending }
          if b.values[place] < a.values[place] { return field.isDescending }
        }
        return a.record.id < b.record.id
      }
      return sortable.prefix(limit).map(\.record)
    }

    private func values(of names: [FieldName], in record: Record, _ table: EntityTable) -> [FieldValue] {
      let lifted = FieldLifter(names.map { StoredField(name: $0, isKey: false) }).values(in: record.payload)
      return names.enumerated().map { place, name in
        table.entity.fields.firstIndex(of: name).map { record.fields.element(at: $0) ?? .null }
          ?? lifted[place]
      }
    }
  }

  /// A query as SQL, as far as columns answer it.
  private struct CompiledQuery {
    /// The part of the condition in SQL.
    let clause: String?
    let conditionParameters: Parameters
    /// The part of the condition that payloads decide.
    let residual: Condition?
    /// The whole condition in SQL, with the key after which to begin.
    private(set) var condition: String
    private(set) var parameters: Parameters
    private(set) var order = ""
    /// Whether SQL answers all of the query.
    private(set) var isWhole: Bool

    init(_ query: Query, in table: EntityTable) {
      var compiler = ConditionCompiler(table)
      (clause, residual) = query.condition.map { compiler.split($0) } ?? (nil, nil)
      conditionParameters = compiler.parameters
      parameters = compiler.parameters
      isWhole = residual == nil
      condition = "r.payload IS NOT NULL" + (clause.map { " AND \($0)" } ?? "")
      if let key = query.afterKey {
        let count = parameters.count
        parameters.add(StoredKey(key))
        condition += " AND (r.id, r.rest) > ($\(count + 1)::bytea, $\(count + 2)::bytea)"
      }
      var order: [String] = []
      for field in query.order {
        guard field.meaning == nil, let column = table.column(of: field.field) else {
          isWhole = false
          continue
        }
        let direction = field.isDescending ? "DESC NULLS LAST" : "NULLS FIRST"
        order += ["\(ConditionCompiler.indexed(column)) \(direction)", "\(column) \(direction)"]
      }
      self.order = (order + ["r.id", "r.rest"]).joined(separator: ", ")
    }
  }
#endif
