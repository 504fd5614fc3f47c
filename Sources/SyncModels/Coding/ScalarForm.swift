import SyncJSON

/// A JSON string, number or Boolean value.
public enum JSONScalar: Hashable, Sendable {
  /// A string, with its escapes resolved.
  case string(String)
  /// A number, as it is spelled in JSON.
  case number(String)
  /// `true` or `false`.
  case boolean(Bool)
}

/// The JSON form of a type's values, such as dates as RFC 3339 strings.
///
/// A form of your own needs a name and two closures:
///
/// ```swift
/// ScalarForm<Date>("a date in .NET ticks") { json in … } write: { date in … }
/// ```
public struct ScalarForm<Value>: Sendable {
  /// What the form is, with its article, for messages: `an RFC 3339 date`.
  public let name: String
  /// What the form's texts are compared as; `nil` if one value has one text, or the form has none.
  public let meaning: TextMeaning?
  let read: @Sendable (JSONValueSlice) throws(OtherForm) -> Value
  let write: @Sendable (Value) -> JSONScalar?

  /// Creates a form.
  ///
  /// - Parameters:
  ///   - name: What the form is, with its article.
  ///   - meaning: What the form's texts are compared as; `nil` for a form without texts, or whose
  ///     texts have no order.
  ///   - read: Returns the value of a JSON scalar, or `nil` if it is of another form.
  ///   - write: Returns a value in this form, or `nil` if the form has no place for it. Reading the
  ///     result gives an equal value.
  public init(
    _ name: String, meaning: TextMeaning? = nil, read: @escaping @Sendable (JSONScalar) -> Value?,
    write: @escaping @Sendable (Value) -> JSONScalar?
  ) {
    (self.name, self.meaning, self.write) = (name, meaning, write)
    self.read = { (json) throws(OtherForm) in
      guard let scalar = JSONScalar(json), let value = read(scalar) else { throw OtherForm() }
      return value
    }
  }

  /// Creates a form that is read from the bytes of a string or of a number, without a `JSONScalar`.
  ///
  /// - Parameter bytes: Returns the value of a string without its escapes, or of a number as written.
  package init(
    _ name: String, meaning: TextMeaning? = nil, isString: Bool,
    bytes read: @escaping @Sendable (ArraySlice<UInt8>) throws(OtherForm) -> Value,
    write: @escaping @Sendable (Value) -> JSONScalar?
  ) {
    (self.name, self.meaning, self.write) = (name, meaning, write)
    self.read = { (json) throws(OtherForm) in
      guard json.kind == (isString ? .string : .number) else { throw OtherForm() }
      return try read(json.content)
    }
  }
}

/// JSON of another form than the expected one.
package struct OtherForm: Error {
  package init() {}
}

/// A type whose values are JSON scalars in records, unlike its `Codable` form.
///
/// `Date`, `URL`, `Data`, `Decimal` and `UUID` conform by `SyncFoundation`, which `CanonicalSync`
/// re-exports. Make a type of your own conform where its synthesized code would not fit the remote.
public protocol ScalarFormed {
  /// The form of values for which a record's type has no other; see ``RecordCoding``.
  static var scalarForm: ScalarForm<Self> { get }
}
