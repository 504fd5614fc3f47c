#if Postgres
  import SyncModels

  /// Translates conditions to SQL with bound values, over the filled columns of a table.
  ///
  /// SQL has three truth values and conditions have two. Under AND and OR, unknown may stand for
  /// false. Only NOT treats them differently, so `IS NOT TRUE` stands there.
  struct ConditionCompiler {
    let table: EntityTable
    private(set) var parameters = Parameters()

    private static let maximumDepth = 64
    private static let maximumParameters = 10_000

    init(_ table: EntityTable) { self.table = table }

    /// Splits a condition into clauses of SQL and the rest; all must hold.
    ///
    /// Values of a field without a column are in the payloads alone.
    mutating func split(_ condition: Condition) -> (clauses: [String], residual: Condition?) {
      var clauses: [String] = []
      var rest: [Condition] = []
      for part in Self.parts(of: condition) {
        let before = parameters
        if let clause = sql(part) {
          clauses.append(clause)
        } else {
          parameters = before
          rest.append(part)
        }
      }
      return (clauses, rest.isEmpty ? nil : .all(rest))
    }

    private static func parts(of condition: Condition) -> [Condition] {
      guard case .all(let conditions) = condition else { return [condition] }
      return conditions.flatMap { parts(of: $0) }
    }

    private mutating func sql(_ condition: Condition, depth: Int = 0) -> String? {
      guard depth < Self.maximumDepth, parameters.count < Self.maximumParameters else { return nil }
      switch condition {
      case .equal(let field, let value): return table.column(of: field).map { equal($0, value) }
      case .isIn(let field, let values): return table.column(of: field).map { isIn($0, values) }
      case .within(let field, let lower, let upper):
        return table.column(of: field).map { within($0, lower, upper) }
      // PostgreSQL has no such functions; the rows that the rest selects are tried here.
      case .meaning, .text: return nil
      case .invalid: return "false"
      case .all(let conditions): return joined(conditions, by: " AND ", none: "true", depth)
      case .any(let conditions): return joined(conditions, by: " OR ", none: "false", depth)
      case .not(let condition): return sql(condition, depth: depth + 1).map { "(\($0) IS NOT TRUE)" }
      }
    }

    private mutating func joined(
      _ conditions: [Condition], by word: String, none: String, _ depth: Int
    ) -> String? {
      var operands: [String] = []
      for condition in conditions {
        guard let operand = sql(condition, depth: depth + 1) else { return nil }
        operands.append(operand)
      }
      return operands.isEmpty ? none : "(" + operands.joined(separator: word) + ")"
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
