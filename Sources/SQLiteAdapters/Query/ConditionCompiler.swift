#if SQLite
  import SyncModels

  /// A value for a parameter of a query.
  enum Parameter {
    case field(FieldValue)
    case text(String)
    case number(Int64)
    case bytes([UInt8])
  }

  /// Translates a condition to SQL with bound values.
  ///
  /// SQL has three truth values and conditions have two. Under AND and OR, unknown may stand for
  /// false. Only NOT treats them differently, so `IS NOT TRUE` stands there and takes both for
  /// false.
  struct ConditionCompiler {
    let table: EntityTable
    private(set) var parameters: [Parameter] = []
    /// Whether the SQL exceeds SQLite's depth or length limits. The condition is then evaluated on
    /// the rows.
    private(set) var isTooMuch = false

    // SQLite's parser has a stack of a hundred states, and each level of parentheses takes some.
    private static let maximumDepth = 16
    private static let maximumParameters = 4000
    // The operands of one chain. SQLite allows expressions a thousand deep, and a chain is as deep
    // as it is long.
    private static let chain = 200
    private static let shortList = 100

    init(_ table: EntityTable) {
      self.table = table
    }

    mutating func sql(_ condition: Condition, depth: Int = 0) -> String {
      guard depth < Self.maximumDepth, parameters.count < Self.maximumParameters else {
        isTooMuch = true
        return "0"
      }
      switch condition {
      case .equal(let field, let value): return equal(field, value)
      case .isIn(let field, let values): return isIn(field, values)
      case .within(let field, let lower, let upper): return within(field, nil, lower, upper)
      case .meaning(let field, let meaning, let lower, let upper):
        return within(field, meaning, lower?.meaning(meaning), upper?.meaning(meaning))
      case .text(let field, let text, let isPrefix): return contains(field, text, isPrefix)
      case .invalid: return "0"
      case .all(let conditions):
        var operands: [String] = []
        for operand in Self.flattened(all: conditions) { operands.append(sql(operand, depth: depth + 1)) }
        return joined(operands, by: " AND ", none: "1")
      case .any(let conditions):
        var operands: [String] = []
        for operand in Self.flattened(any: conditions) { operands.append(sql(operand, depth: depth + 1)) }
        return joined(operands, by: " OR ", none: "0")
      case .not(.not(let condition)): return sql(condition, depth: depth)
      case .not(let condition): return "(\(sql(condition, depth: depth + 1)) IS NOT TRUE)"
      }
    }

    private static func flattened(all conditions: [Condition]) -> [Condition] {
      conditions.flatMap { condition in
        if case .all(let inner) = condition { flattened(all: inner) } else { [condition] }
      }
    }

    private static func flattened(any conditions: [Condition]) -> [Condition] {
      conditions.flatMap { condition in
        if case .any(let inner) = condition { flattened(any: inner) } else { [condition] }
      }
    }

    private func joined(_ operands: [String], by word: String, none: String) -> String {
      guard operands.count > 1 else { return operands.first ?? none }
      if operands.count <= Self.chain { return "(" + operands.joined(separator: word) + ")" }
      let chains = stride(from: 0, to: operands.count, by: Self.chain).map { start in
        "(" + operands[start..<min(start + Self.chain, operands.count)].joined(separator: word) + ")"
      }
      return joined(chains, by: word, none: none)
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
      return joined(operands, by: " OR ", none: "0")
    }

    private mutating func within(
      _ field: FieldName, _ meaning: TextMeaning?, _ lower: Condition.Bound?, _ upper: Condition.Bound?
    ) -> String {
      guard let some = lower ?? upper else { return "1" }
      // A range is possible over numbers, over strings or over booleans. Other values have no
      // order.
      guard some.value.isComparable(with: some.value), some.value.isComparable(with: (upper ?? some).value)
      else { return "0" }
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
      return joined(operands, by: " AND ", none: "1")
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
