#if Postgres
  import CanonicalSyncDatabases
  import SyncModels

  /// PostgreSQL's SQL for conditions over the filled columns of a table, and the values bound so far.
  ///
  /// Values of a field without a column are in the payloads alone.
  struct ConditionCompiler: ConditionDialect {
    let table: EntityTable
    var parameters = Parameters()
    var parameterCount: Int { parameters.count }

    static let limits = (depth: 64, parameters: 10_000)

    init(_ table: EntityTable) { self.table = table }

    mutating func comparison(_ condition: Condition) -> String? {
      switch condition {
      case .equal(let field, let value): table.column(of: field).map { equal($0, value) }
      case .isIn(let field, let values): table.column(of: field).map { isIn($0, values) }
      case .within(let field, let lower, let upper):
        table.column(of: field).map { within($0, lower, upper) }
      // PostgreSQL has no such functions; the rows that the rest selects are tried here.
      case .meaning, .text, .invalid, .all, .any, .not: nil
      }
    }

    // MARK: Comparisons

    /// The part of a column that its index holds.
    static func indexed(_ column: String) -> String { "substr(\(column), 1, \(FieldCode.indexedSize))" }

    private mutating func bound(_ bytes: [UInt8]) -> String {
      parameters.add(bytes: bytes)
      return "$\(parameters.count)::bytea"
    }

    private mutating func equal(_ column: String, _ wanted: FieldValue) -> String {
      if case .null = wanted { return "\(column) IS NULL" }
      // Not-a-number equals nothing.
      guard let bytes = FieldCode.bytes(of: wanted) else { return "false" }
      return comparison(column, "=", bytes)
    }

    private mutating func isIn(_ column: String, _ wanted: [FieldValue]) -> String {
      var operands: [String] = []
      if wanted.contains(.null) { operands.append("\(column) IS NULL") }
      var (starts, values) = (ColumnArray(.bytes), ColumnArray(.bytes))
      for bytes in wanted.compactMap({ FieldCode.bytes(of: $0) }) {
        starts.append(bytes[..<min(bytes.count, FieldCode.indexedSize)])
        values.append(bytes[...])
      }
      if values.count > 0 {
        parameters.add(starts)
        parameters.add(values)
        let count = parameters.count
        operands.append(
          "(\(Self.indexed(column)) = ANY ($\(count - 1)::bytea[]) AND \(column) = ANY ($\(count)::bytea[]))")
      }
      return operands.isEmpty ? "false" : "(" + operands.joined(separator: " OR ") + ")"
    }

    private mutating func within(
      _ column: String, _ lower: Condition.Bound?, _ upper: Condition.Bound?
    ) -> String {
      guard let some = lower ?? upper else { return "true" }
      // A range is possible over numbers, over strings or over booleans.
      guard some.value.isComparable(with: some.value), some.value.isComparable(with: (upper ?? some).value)
      else { return "false" }
      let first = FieldCode.first(of: some.value)
      let start = lower.flatMap { FieldCode.bytes(of: $0.value) } ?? [first]
      let end = upper.flatMap { FieldCode.bytes(of: $0.value) } ?? [first + 1]
      let lowest = comparison(column, lower?.isIncluded ?? true ? ">=" : ">", start)
      return "(\(lowest) AND \(comparison(column, upper?.isIncluded ?? false ? "<=" : "<", end)))"
    }

    /// A comparison that an index serves.
    ///
    /// A value that is shorter than the indexed part compares with it as with the whole.
    private mutating func comparison(_ column: String, _ sign: String, _ bytes: [UInt8]) -> String {
      if bytes.count < FieldCode.indexedSize { return "\(Self.indexed(column)) \(sign) \(bound(bytes))" }
      let start = Array(bytes.prefix(FieldCode.indexedSize))
      let loose = sign == "<" || sign == ">" ? sign + "=" : sign
      return "(\(Self.indexed(column)) \(loose) \(bound(start)) AND \(column) \(sign) \(bound(bytes)))"
    }
  }
#endif
