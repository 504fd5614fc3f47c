#if Postgres
  /// One statement and its parameters.
  struct Statement {
    var sql: String
    var parameters = Parameters()
    /// Whether the server keeps the statement, and its plan, for the next time.
    var isKept = true

    init(_ sql: String, _ parameters: Parameters = Parameters(), isKept: Bool = true) {
      self.sql = sql
      self.parameters = parameters
      self.isKept = isKept
    }

    init(_ sql: String, isKept: Bool = true, _ fill: (inout Parameters) -> Void) {
      self.init(sql, isKept: isKept)
      fill(&parameters)
    }
  }
#endif
