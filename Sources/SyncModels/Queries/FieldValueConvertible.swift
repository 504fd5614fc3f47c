/// A Swift value that conditions compare fields with.
public protocol FieldValueConvertible {
  /// The value as a field holds it.
  var fieldValue: FieldValue { get }
}

extension String: FieldValueConvertible {
  /// The string.
  public var fieldValue: FieldValue { .string(self) }
}

extension Bool: FieldValueConvertible {
  /// The Boolean value.
  public var fieldValue: FieldValue { .boolean(self) }
}

extension Int: FieldValueConvertible {
  /// The number.
  public var fieldValue: FieldValue { .integer(Int64(self)) }
}

extension Int64: FieldValueConvertible {
  /// The number.
  public var fieldValue: FieldValue { .integer(self) }
}

extension Double: FieldValueConvertible {
  /// The number.
  public var fieldValue: FieldValue { .double(self) }
}

extension FieldValueConvertible where Self: RawRepresentable, RawValue: FieldValueConvertible {
  /// The raw value: an enumeration of strings or numbers only has to declare its conformance.
  public var fieldValue: FieldValue { rawValue.fieldValue }
}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
  /// The wrapped value; `nil` is null, which a missing field equals.
  public var fieldValue: FieldValue { self?.fieldValue ?? .null }
}

// The conditions as a caller writes them: with variables of the app's own types.
extension Condition {
  /// The field equals the value.
  public static func equal(_ field: FieldName, _ value: some FieldValueConvertible) -> Condition {
    .equal(field, value.fieldValue)
  }

  /// The field equals one of the values.
  public static func isIn(
    _ field: FieldName, _ values: some Sequence<some FieldValueConvertible>
  ) -> Condition {
    .isIn(field, values.map(\.fieldValue))
  }

  /// The field is between two values, both included.
  public static func range<Value: FieldValueConvertible>(
    _ field: FieldName, from lower: Value, to upper: Value
  ) -> Condition {
    .range(field, from: lower.fieldValue, to: upper.fieldValue)
  }

  /// The field is less than a value of its own JSON type.
  public static func less(_ field: FieldName, _ value: some FieldValueConvertible) -> Condition {
    .less(field, value.fieldValue)
  }

  /// The field is greater than a value of its own JSON type.
  public static func greater(_ field: FieldName, _ value: some FieldValueConvertible) -> Condition {
    .greater(field, value.fieldValue)
  }

  /// The field is at least a value of its own JSON type.
  public static func atLeast(_ field: FieldName, _ value: some FieldValueConvertible) -> Condition {
    .atLeast(field, value.fieldValue)
  }

  /// The field is at most a value of its own JSON type.
  public static func atMost(_ field: FieldName, _ value: some FieldValueConvertible) -> Condition {
    .atMost(field, value.fieldValue)
  }
}
