/// A condition on the values of a record's fields.
///
/// Conditions are two-valued: a record satisfies one or does not, and `not` inverts that. A missing
/// field counts as null. A comparison with a value of another JSON type is never satisfied, in
/// either direction.
///
/// ```swift
/// .equal("home_team_id", "BOS") && .range("date", from: "2026-04-06", to: "2026-04-12")
/// ```
public indirect enum Condition: Hashable, Sendable {
  /// The field equals the value.
  case equal(FieldName, FieldValue)
  /// The field equals one of the values.
  case isIn(FieldName, [FieldValue])
  /// The field is between two bounds of one JSON type, each included, excluded or absent.
  case within(FieldName, lower: Bound?, upper: Bound?)
  /// What the field's text means is between two bounds, each included, excluded or absent.
  ///
  /// The bounds are texts of that meaning. A text without the meaning is not between them.
  case meaning(FieldName, TextMeaning, lower: Bound?, upper: Bound?)
  /// The field's text contains another, or begins with it, whatever the case and the marks of letters.
  case text(FieldName, String, isPrefix: Bool)
  /// A comparison that has no sound result, with the reason. A query with it throws.
  case invalid(String)
  /// All of the conditions hold. With no condition, always.
  case all([Condition])
  /// At least one of the conditions holds. With no condition, never.
  case any([Condition])
  /// The condition does not hold.
  case not(Condition)

  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The value at the end.
    public var value: FieldValue
    /// Whether the value itself belongs to the range.
    public var isIncluded: Bool

    /// Creates one end of a range.
    public init(_ value: FieldValue, isIncluded: Bool) {
      self.value = value
      self.isIncluded = isIncluded
    }
  }

  /// The field is between two values, both included.
  public static func range(_ field: FieldName, from lower: FieldValue, to upper: FieldValue) -> Condition {
    .within(field, lower: Bound(lower, isIncluded: true), upper: Bound(upper, isIncluded: true))
  }

  /// The field is less than a value of its own JSON type.
  public static func less(_ field: FieldName, _ value: FieldValue) -> Condition {
    .within(field, lower: nil, upper: Bound(value, isIncluded: false))
  }

  /// The field is greater than a value of its own JSON type.
  public static func greater(_ field: FieldName, _ value: FieldValue) -> Condition {
    .within(field, lower: Bound(value, isIncluded: false), upper: nil)
  }

  /// The field is at least a value of its own JSON type.
  public static func atLeast(_ field: FieldName, _ value: FieldValue) -> Condition {
    .within(field, lower: Bound(value, isIncluded: true), upper: nil)
  }

  /// The field is at most a value of its own JSON type.
  public static func atMost(_ field: FieldName, _ value: FieldValue) -> Condition {
    .within(field, lower: nil, upper: Bound(value, isIncluded: true))
  }

  /// The field's text means the same as a value's.
  public static func equal(_ field: FieldName, _ value: FieldValue, as meaning: TextMeaning) -> Condition {
    range(field, from: value, to: value, as: meaning)
  }

  /// What the field's text means is between two values, both included.
  public static func range(
    _ field: FieldName, from lower: FieldValue, to upper: FieldValue, as meaning: TextMeaning
  ) -> Condition {
    .meaning(
      field, meaning, lower: Bound(lower, isIncluded: true), upper: Bound(upper, isIncluded: true))
  }

  /// The field's text contains another, whatever the case and the marks of letters.
  public static func contains(_ field: FieldName, _ text: String) -> Condition {
    .text(field, text, isPrefix: false)
  }

  /// The field's text begins with another, whatever the case and the marks of letters.
  public static func hasPrefix(_ field: FieldName, _ text: String) -> Condition {
    .text(field, text, isPrefix: true)
  }
}

extension Condition {
  /// Whether a record with the given field values satisfies the condition.
  ///
  /// Every store's own evaluation must agree with this method.
  public func isSatisfied(by value: (FieldName) -> FieldValue) -> Bool {
    switch self {
    case .equal(let field, let wanted): value(field) == wanted
    case .isIn(let field, let wanted): wanted.contains(value(field))
    case .within(let field, let lower, let upper): Self.lies(value(field), lower, upper)
    case .meaning(let field, let meaning, let lower, let upper):
      Self.lies(meaning.value(of: value(field)), lower?.meaning(meaning), upper?.meaning(meaning))
    case .text(let field, let text, let isPrefix):
      Self.matches(value(field), TextMeaning.folded.value(of: .string(text)), isPrefix)
    case .invalid: false
    case .all(let conditions): conditions.allSatisfy { $0.isSatisfied(by: value) }
    case .any(let conditions): conditions.contains { $0.isSatisfied(by: value) }
    case .not(let condition): !condition.isSatisfied(by: value)
    }
  }

  private static func lies(_ value: FieldValue, _ lower: Bound?, _ upper: Bound?) -> Bool {
    for bound in [lower, upper].compactMap(\.self) where !bound.value.isComparable(with: value) {
      return false
    }
    if let lower, !(lower.value < value || (lower.isIncluded && lower.value == value)) { return false }
    if let upper, !(value < upper.value || (upper.isIncluded && upper.value == value)) { return false }
    return true
  }

  private static func matches(_ value: FieldValue, _ wanted: FieldValue, _ isPrefix: Bool) -> Bool {
    guard case .string(let text) = value, case .string(let wanted) = wanted,
      case .string(let folded) = TextMeaning.folded.value(of: .string(text))
    else { return false }
    let (whole, part) = (Array(folded.utf8), Array(wanted.utf8))
    return part.isEmpty || (isPrefix ? whole.starts(with: part) : whole.contains(part))
  }

  /// Why the condition has no sound result; `nil` if it has one.
  package var flaw: String? {
    switch self {
    case .equal, .isIn, .text: nil
    case .within(let field, let lower, let upper): Self.flaw(of: field, [lower, upper])
    case .meaning(let field, let meaning, let lower, let upper):
      Self.flaw(of: field, [lower?.meaning(meaning), upper?.meaning(meaning)])
    case .invalid(let reason): reason
    case .all(let conditions), .any(let conditions): conditions.lazy.compactMap(\.flaw).first
    case .not(let condition): condition.flaw
    }
  }

  private static func flaw(of field: FieldName, _ bounds: [Bound?]) -> String? {
    guard bounds.contains(where: { bound in bound.map { !$0.value.isComparable(with: $0.value) } ?? false })
    else { return nil }
    return "A bound of \(field) is no value in its form, such as null or a date after the year 9999."
  }

  /// Every field that the condition mentions.
  package var fields: Set<FieldName> {
    switch self {
    case .equal(let field, _), .isIn(let field, _), .within(let field, _, _),
      .meaning(let field, _, _, _), .text(let field, _, _):
      [field]
    case .invalid: []
    case .all(let conditions), .any(let conditions):
      conditions.reduce(into: []) { $0.formUnion($1.fields) }
    case .not(let condition): condition.fields
    }
  }
}

extension Condition.Bound {
  /// The bound of comparable values.
  package func meaning(_ meaning: TextMeaning) -> Self {
    Self(meaning.value(of: value), isIncluded: isIncluded)
  }
}

extension FieldValue {
  /// Whether one of two values can be less than the other: both numbers, both strings or both
  /// booleans.
  package func isComparable(with other: FieldValue) -> Bool {
    rank == other.rank && (1...3).contains(rank)
  }
}
