#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// A query as SQL text with bound parameters.
  struct CompiledQuery {
    var sql: String
    var parameters: [Parameter]
    /// The part of the condition that exceeds SQLite's limits, and is evaluated on the rows.
    ///
    /// The SQL then has no limit.
    var residual: Condition?

    /// What a query selects.
    enum Purpose {
      case records
      case count
    }

    init(_ query: Query, in table: EntityTable, for purpose: Purpose = .records) {
      var compiler = ConditionCompiler(table)
      var clauses = ["payload IS NOT NULL"]
      if let condition = query.condition {
        let (clause, rest) = compiler.split(condition)
        if let clause { clauses.append(clause) }
        residual = rest
      }
      parameters = compiler.parameters
      if let key = query.afterKey {
        clauses.append("id > ?")
        parameters.append(.text(key))
      }
      let rows = "FROM \(table.name) WHERE \(clauses.joined(separator: " AND "))"
      if purpose == .count, residual == nil {
        sql = "SELECT count(*) \(rows)"
        return
      }
      var order: [String] = []
      var names = ConditionCompiler(table)
      for field in query.order {
        order.append(names.value(field.field, as: field.meaning) + (field.isDescending ? " DESC" : ""))
      }
      parameters += names.parameters
      sql = "SELECT \(table.recordColumns) \(rows) ORDER BY \((order + ["id"]).joined(separator: ", "))"
      if residual == nil, let limit = query.limit {
        sql += " LIMIT ?"
        parameters.append(.number(Int64(max(0, limit))))
      }
    }
  }

  extension Statement {
    func bind(_ parameters: [Parameter]) throws(SyncError) {
      for (place, parameter) in parameters.enumerated() {
        let index = Int32(place + 1)
        switch parameter {
        case .field(let value): try bind(value, at: index)
        case .text(let text): try bind(text, at: index)
        case .number(let number): try bind(number, at: index)
        case .bytes(let bytes): try bind(bytes, at: index)
        }
      }
    }
  }
#endif
