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
  public static func == (field: Self, value: Value?) -> Condition { field.equals(value) }

  /// The field does not equal a value.
  public static func != (field: Self, value: Value?) -> Condition { !(field == value) }

  /// The field is less than a value.
  public static func < (field: Self, value: Value) -> Condition { field.lies(nil, (value, false)) }

  /// The field is at most a value.
  public static func <= (field: Self, value: Value) -> Condition { field.lies(nil, (value, true)) }

  /// The field is greater than a value.
  public static func > (field: Self, value: Value) -> Condition { field.lies((value, false), nil) }

  /// The field is at least a value.
  public static func >= (field: Self, value: Value) -> Condition { field.lies((value, true), nil) }
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
