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
/// A value is compared in the form that ``SyncedRecord/coding`` gives it in this member. Stores
/// compare JSON values: dates as strings are in order as far as the remote spells all of them with
/// one number of fraction digits and one offset. Dates as numbers are always in order.
public struct Field<Root: SyncedRecord, Value: Sendable>: Sendable {
  /// The member's name.
  public let name: FieldName

  /// Names a member.
  public init(_ name: FieldName) {
    self.name = name
  }

  /// The JSON value of a member, in the form that the type gives it.
  package func value(_ value: some FieldValueConvertible) -> FieldValue {
    guard let formed = value as? any ScalarFormed else { return value.fieldValue }
    // A form that cannot write the value has none in a record either.
    return (try? Root.coding.scalar(of: formed, at: { [name.rawValue] }))?.fieldValue ?? .null
  }
}

extension Field where Value: FieldValueConvertible {
  /// The field equals one of some values.
  public func isIn(_ values: some Sequence<Value>) -> Condition { .isIn(name, values.map { value($0) }) }
}

extension Query.SortField {
  /// Sorts by a field, the least value first.
  public static func ascending<Root, Value>(_ field: Field<Root, Value>) -> Query.SortField {
    .ascending(field.name)
  }

  /// Sorts by a field, the greatest first.
  public static func descending<Root, Value>(_ field: Field<Root, Value>) -> Query.SortField {
    .descending(field.name)
  }
}
