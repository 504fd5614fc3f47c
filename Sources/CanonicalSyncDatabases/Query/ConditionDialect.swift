package import SyncModels

/// Translates conditions to SQL with bound values, as far as a database has SQL for them.
///
/// SQL has three truth values and conditions have two. Under AND and OR, unknown may stand for
/// false. Only NOT treats them differently, so `IS NOT TRUE` stands there and takes both for
/// false.
package protocol ConditionDialect {
  associatedtype Values

  /// The bound values.
  var parameters: Values { get set }
  var parameterCount: Int { get }
  /// The depth of a condition, and the number of bound values, from which SQL is too much.
  static var limits: (depth: Int, parameters: Int) { get }

  /// The SQL of a comparison; `nil` if the database has none.
  mutating func comparison(_ condition: Condition) -> String?
}

extension ConditionDialect {
  /// Splits a condition into SQL and the rest, which is evaluated on the rows; both must hold.
  package mutating func split(_ condition: Condition) -> (clause: String?, residual: Condition?) {
    var (clauses, rest): ([String], [Condition]) = ([], [])
    for part in condition.conjuncts {
      let before = parameters
      if let clause = sql(part, depth: 1) {
        clauses.append(clause)
      } else {
        parameters = before
        rest.append(part)
      }
    }
    return (
      clauses.isEmpty ? nil : Self.joined(clauses, by: " AND "), rest.isEmpty ? nil : .all(rest)
    )
  }

  private mutating func sql(_ condition: Condition, depth: Int) -> String? {
    guard depth < Self.limits.depth, parameterCount < Self.limits.parameters else { return nil }
    switch condition {
    case .equal, .isIn, .within, .meaning, .text: return comparison(condition)
    case .invalid: return "false"
    case .all: return sql(condition.conjuncts, by: " AND ", none: "true", depth + 1)
    case .any: return sql(condition.disjuncts, by: " OR ", none: "false", depth + 1)
    case .not(.not(let condition)): return sql(condition, depth: depth)
    case .not(let condition): return sql(condition, depth: depth + 1).map { "(\($0) IS NOT TRUE)" }
    }
  }

  private mutating func sql(
    _ conditions: [Condition], by word: String, none: String, _ depth: Int
  ) -> String? {
    var operands: [String] = []
    for condition in conditions {
      guard let operand = sql(condition, depth: depth) else { return nil }
      operands.append(operand)
    }
    return operands.isEmpty ? none : Self.joined(operands, by: word)
  }

  /// Joins at least one operand by AND or OR.
  ///
  /// SQLite allows expressions a thousand deep, and a chain is as deep as it is long.
  package static func joined(_ operands: [String], by word: String) -> String {
    if operands.count == 1 { return operands[0] }
    let chains = stride(from: 0, to: operands.count, by: 200).map { start in
      "(" + operands[start..<min(start + 200, operands.count)].joined(separator: word) + ")"
    }
    return joined(chains, by: word)
  }
}

extension Condition {
  fileprivate var conjuncts: [Condition] {
    if case .all(let conditions) = self { conditions.flatMap(\.conjuncts) } else { [self] }
  }

  fileprivate var disjuncts: [Condition] {
    if case .any(let conditions) = self { conditions.flatMap(\.disjuncts) } else { [self] }
  }
}
