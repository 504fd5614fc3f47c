// The operators of the declarations that CanonicalSync.swift re-exports: an import of single
// declarations leaves them out.
public import SyncModels

extension Condition {
  /// Both conditions hold.
  public static func && (a: Condition, b: Condition) -> Condition { .all([a, b]) }
  /// At least one of the conditions holds.
  public static func || (a: Condition, b: Condition) -> Condition { .any([a, b]) }
  /// The condition does not hold.
  public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}

extension Field where Value: FieldValueConvertible {
  /// The field equals a value; `nil` is null, which a missing member equals.
  public static func == (field: Self, value: Value?) -> Condition {
    .equal(field.name, value.map { field.value($0) } ?? .null)
  }

  /// The field does not equal a value.
  public static func != (field: Self, value: Value?) -> Condition { !(field == value) }

  /// The field is less than a value.
  public static func < (field: Self, value: Value) -> Condition { .less(field.name, field.value(value)) }

  /// The field is at most a value.
  public static func <= (field: Self, value: Value) -> Condition { .atMost(field.name, field.value(value)) }

  /// The field is greater than a value.
  public static func > (field: Self, value: Value) -> Condition { .greater(field.name, field.value(value)) }

  /// The field is at least a value.
  public static func >= (field: Self, value: Value) -> Condition { .atLeast(field.name, field.value(value)) }
}

// A file that imports SyncModels too finds these operators there.
extension Timestamp {
  /// The instant a duration later, in whole microseconds, clamped to the range.
  @_disfavoredOverload
  public static func + (instant: Timestamp, duration: Duration) -> Timestamp {
    instant.advanced(by: duration)
  }

  /// The instant a duration earlier, in whole microseconds, clamped to the range.
  @_disfavoredOverload
  public static func - (instant: Timestamp, duration: Duration) -> Timestamp {
    instant.advanced(by: .zero - duration)
  }
}
