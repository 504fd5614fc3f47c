#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// A value for a parameter of a statement.
  enum Parameter {
    case field(FieldValue)
    case text(String?)
    case number(Int64?)
    case bytes([UInt8])
  }

  /// SQLite's SQL for conditions, and the values bound so far.
  struct ConditionCompiler: ConditionDialect {
    let table: EntityTable
    var parameters: [Parameter] = []
    var parameterCount: Int { parameters.count }

    // SQLite's parser has a stack of a hundred states, and each level of parentheses takes some.
    static let limits = (depth: 16, parameters: 4000)
    private static let shortList = 100

    init(_ table: EntityTable) {
      self.table = table
    }

    mutating func comparison(_ condition: Condition) -> String? {
      switch condition {
      case .equal(let field, let value): equal(field, value)
      case .isIn(let field, let values): isIn(field, values)
      case .within(let field, let lower, let upper): within(field, nil, lower, upper)
      case .meaning(let field, let meaning, let lower, let upper):
        within(field, meaning, lower?.meaning(meaning), upper?.meaning(meaning))
      case .text(let field, let text, let isPrefix): contains(field, text, isPrefix)
      case .invalid, .all, .any, .not: nil
      }
    }

    // MARK: Comparisons

    /// The SQL for a field's value.
    ///
    /// It may occur more than once in a comparison, and binds the field's name each time.
    mutating func value(_ field: FieldName) -> String {
      if let column = table.derived.column(of: field) { return column }
      parameters.append(.text(field.rawValue))
      return "\(FieldFunction.field)(payload, ?, \(table.entity.storedField(field).isKey ? 1 : 0))"
    }

    /// The SQL for what a field's value means.
    mutating func value(_ field: FieldName, as meaning: TextMeaning?) -> String {
      let value = value(field)
      return meaning.map { "\(FieldFunction.meaning)(\(value), '\($0.rawValue)')" } ?? value
    }

    private mutating func contains(_ field: FieldName, _ text: String, _ isPrefix: Bool) -> String {
      let raw = value(field)
      let folded = value(field, as: .folded)
      parameters.append(.field(TextMeaning.folded.value(of: .string(text))))
      return "(typeof(\(raw)) = 'text' AND instr(\(folded), ?) \(isPrefix ? "= 1" : "> 0"))"
    }

    private mutating func comparison(
      _ field: FieldName, _ meaning: TextMeaning?, _ comparison: String, _ wanted: FieldValue
    ) -> String {
      let value = value(field, as: meaning)
      parameters.append(.field(wanted))
      return "\(value) \(comparison) ?"
    }

    private mutating func equal(_ field: FieldName, _ wanted: FieldValue) -> String {
      if case .null = wanted { return "\(value(field)) IS NULL" }
      // Not-a-number is bound as NULL. It equals nothing, which is correct.
      return comparison(field, nil, "=", wanted)
    }

    private mutating func isIn(_ field: FieldName, _ wanted: [FieldValue]) -> String {
      let values = wanted.filter { $0.rank != 0 }
      var operands: [String] = []
      if wanted.contains(.null) { operands.append(equal(field, .null)) }
      if values.count > Self.shortList {
        let value = value(field)
        parameters += [.number(Int64(values.count)), .bytes(ValueList.encode(values))]
        operands.append(
          """
          \(value) IN (WITH RECURSIVE place(n) AS \
          (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n + 1 < ?) \
          SELECT \(FieldFunction.item)(?, n) FROM place)
          """)
      } else if !values.isEmpty {
        let value = value(field)
        parameters += values.map { .field($0) }
        operands.append("\(value) IN (\(values.map { _ in "?" }.joined(separator: ", ")))")
      }
      return operands.isEmpty ? "false" : Self.joined(operands, by: " OR ")
    }

    private mutating func within(
      _ field: FieldName, _ meaning: TextMeaning?, _ lower: Condition.Bound?, _ upper: Condition.Bound?
    ) -> String {
      guard let some = lower ?? upper else { return "true" }
      // A range is possible over numbers, over strings or over booleans. Other values have no
      // order.
      guard some.value.isComparable(with: some.value), some.value.isComparable(with: (upper ?? some).value)
      else { return "false" }
      var operands: [String] = []
      if let lower {
        operands.append(comparison(field, meaning, lower.isIncluded ? ">=" : ">", lower.value))
      } else {
        operands.append("\(value(field, as: meaning)) >= \(Self.start(of: some.value))")
      }
      if let upper {
        operands.append(comparison(field, meaning, upper.isIncluded ? "<=" : "<", upper.value))
      } else {
        operands.append("\(value(field, as: meaning)) < \(Self.end(of: some.value))")
      }
      return Self.joined(operands, by: " AND ")
    }

    /// The first value of a JSON type in SQLite's order.
    private static func start(of value: FieldValue) -> String {
      switch value {
      case .string: "''"
      case .boolean: "x''"
      // Only nulls come before numbers. The bound is for the planner, which expects many rows of a
      // range with one end.
      default: "-9e999"
      }
    }

    /// The first value of the next JSON type.
    private static func end(of value: FieldValue) -> String {
      switch value {
      case .string: "x''"
      case .boolean: "x'02'"
      default: "''"
      }
    }
  }
#endif
