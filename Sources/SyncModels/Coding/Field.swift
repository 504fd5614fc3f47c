/// A typed member of a type's records, for conditions and sorting.
///
/// ```swift
/// extension Game {
///   static let startsAt = Field<Game, Date>("startsAt")
/// }
/// try await engine.records.filter(
///   Game.self, where: Game.startsAt >= monday && Game.startsAt < nextMonday, order: [.ascending(Game.startsAt)])
/// ```
///
/// A value is compared in the form that ``SyncedRecord/coding`` gives it in this member, and where
/// the form's texts have several spellings, such as dates of several offsets, by their
/// ``TextMeaning``. A range over texts of no known order is refused as `invalidConfiguration`.
/// A member that a record lacks counts as the default that the coding has for it.
///
/// A read by a name that neither the type decodes nor the schema declares is refused as
/// `invalidConfiguration`: the name is that of the JSON member, not of the Swift property.
///
/// Sorting compares dates by their bytes, so that an index serves. Where the remote spells them with
/// several offsets or numbers of digits, sort by `.ascending(Game.startsAt.name, as: .instant)`.
public struct Field<Root: SyncedRecord, Value: Sendable>: Sendable {
  /// The member's name.
  public let name: FieldName

  /// Names a member.
  public init(_ name: FieldName) {
    self.name = name
  }

  /// The JSON value of a member, in the form that the type gives it.
  ///
  /// Null for a value that the form cannot write.
  package func value(_ value: some FieldValueConvertible) -> FieldValue {
    guard let formed = value as? any ScalarFormed else { return value.fieldValue }
    return (try? Root.coding.scalar(of: formed, at: { [name.rawValue] }))?.fieldValue ?? .null
  }

  /// What the texts of a member are compared as; `nil` for their bytes.
  fileprivate var meaning: TextMeaning? {
    func meaning<Formed: ScalarFormed>(_ type: Formed.Type) -> TextMeaning? {
      Root.coding.form(of: type) { [name] }.meaning
    }
    return (formed as? any ScalarFormed.Type).flatMap { meaning($0) }
  }

  /// The type of the member's values, also where they are optional.
  private var formed: Any.Type { (Value.self as? any OptionalMember.Type)?.wrapped ?? Value.self }

  /// Whether texts of the member have an order.
  private var isOrdered: Bool { meaning != nil || !(formed is any ScalarFormed.Type) }

  /// A condition in which a record without the member has its default.
  fileprivate func withDefault(_ condition: Condition) -> Condition {
    guard let value = Root.coding.defaults[name] else { return condition }
    let isDefault = condition.isSatisfied { _ in value }
    if isDefault { return .any([condition, .equal(name, .null)]) }
    return condition.isSatisfied { _ in .null } ? .all([condition, .not(.equal(name, .null))]) : condition
  }
}

extension Field where Value: FieldValueConvertible {
  /// The field equals a value; `nil` is null.
  package func equals(_ value: Value?) -> Condition { withDefault(equality(value)) }

  private func equality(_ value: Value?) -> Condition {
    let wanted = value.map { self.value($0) } ?? .null
    if wanted == .null, let value, value is any ScalarFormed {
      return .invalid("A value for \(Root.recordType).\(name) has no place in its form.")
    }
    guard case .string = wanted, meaning != nil else { return .equal(name, wanted) }
    let bound = Condition.Bound(wanted, isIncluded: true)
    return between(bound, bound)
  }

  /// The field equals one of some values.
  public func isIn(_ values: some Sequence<Value>) -> Condition {
    let equalities = Condition.any(values.map { equality($0) })
    if meaning != nil || equalities.flaw != nil { return withDefault(equalities) }
    return withDefault(.isIn(name, values.map { value($0) }))
  }

  /// The field is between two bounds, each included, excluded or absent.
  package func lies(_ lower: (value: Value, isIncluded: Bool)?, _ upper: (value: Value, isIncluded: Bool)?)
    -> Condition
  {
    let bounds = [lower, upper].map { bound in
      bound.map { Condition.Bound(value($0.value), isIncluded: $0.isIncluded) }
    }
    return withDefault(between(bounds[0], bounds[1]))
  }

  private func between(_ lower: Condition.Bound?, _ upper: Condition.Bound?) -> Condition {
    guard case .string? = (lower ?? upper)?.value else { return .within(name, lower: lower, upper: upper) }
    guard let meaning else {
      if isOrdered { return .within(name, lower: lower, upper: upper) }
      return .invalid(
        "The texts of \(Root.recordType).\(name) have no known order. Give their ScalarForm a meaning.")
    }
    let condition = Condition.meaning(name, meaning, lower: lower, upper: upper)
    guard meaning == .instant else { return condition }
    // A text begins with the day at its own place, which is at most one away from the day in UTC. So
    // an index on the texts finds what may satisfy the condition.
    return .all([
      .within(name, lower: lower?.day(-1) ?? .init("", isIncluded: true), upper: upper?.day(2)), condition,
    ])
  }
}

extension Field where Value == String {
  /// The field contains a text, whatever the case and the marks of letters.
  public func contains(_ text: String) -> Condition { withDefault(.contains(name, text)) }

  /// The field begins with a text, whatever the case and the marks of letters.
  public func hasPrefix(_ text: String) -> Condition { withDefault(.hasPrefix(name, text)) }
}

extension Field where Value == String? {
  /// The field contains a text, whatever the case and the marks of letters.
  public func contains(_ text: String) -> Condition { withDefault(.contains(name, text)) }

  /// The field begins with a text, whatever the case and the marks of letters.
  public func hasPrefix(_ text: String) -> Condition { withDefault(.hasPrefix(name, text)) }
}

extension Condition.Bound {
  /// The bound for texts of dates, some days from the instant; `nil` outside the years 0 to 9999.
  fileprivate func day(_ days: Int64) -> Self? {
    guard case .string(let text) = value, let instant = Timestamp(iso8601: text) else { return nil }
    let day = Timestamp(microseconds: instant.microseconds + days * 86_400_000_000)
    return day.rfc3339(fractionDigits: 0).map { Self(.string(String($0.prefix(10))), isIncluded: true) }
  }
}

/// An optional, as the type of a member.
private protocol OptionalMember {
  static var wrapped: Any.Type { get }
}

extension Optional: OptionalMember {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension Query.SortField {
  /// Sorts by a field, the least value first.
  public static func ascending<Root, Value>(_ field: Field<Root, Value>) -> Query.SortField {
    Self(field, descending: false)
  }

  /// Sorts by a field, the greatest first.
  public static func descending<Root, Value>(_ field: Field<Root, Value>) -> Query.SortField {
    Self(field, descending: true)
  }

  private init<Root, Value>(_ field: Field<Root, Value>, descending: Bool) {
    // Dates by their bytes: most remotes spell all of them alike, and an index serves.
    self.init(
      field.name, descending: descending, as: field.meaning == .instant ? nil : field.meaning)
  }
}
