/// How records become values of a Swift type, and values become records.
///
/// ```swift
/// struct Reading: SyncedRecord, Codable, Identifiable {
///   static let recordType: RecordType = "readings"
///   static let coding = RecordCoding(
///     .form(of: Date.self, .millisecondsSince1970), .form(of: Date.self, at: "day", as: .day))
///   var id: String
///   var takenAt: Date
///   var day: Date
/// }
/// ```
public struct RecordCoding: Sendable {
  /// Where the `id` of an `Identifiable` type has its place.
  public enum KeyMember: Hashable, Sendable {
    /// `id` is the record's key. It is written as this member, and read from the key without it.
    case member(FieldName)
    /// `id` is the record's key, and this member is not written.
    case omitted(FieldName)
    /// `id` is not the record's key, which every edit has to name.
    case unrelated
  }

  /// The place of an `Identifiable` type's `id`.
  public var key: KeyMember
  /// The values that members have where a record lacks them, or has null.
  public var defaults: [FieldName: FieldValue]
  private var types: [ObjectIdentifier: any Sendable] = [:]
  private var fields: [Field: any Sendable] = [:]

  /// Creates a coding.
  ///
  /// - Parameters:
  ///   - forms: The forms of values that differ from their type's ``ScalarFormed/scalarForm``. Of
  ///     two for one place, the later counts.
  ///   - key: Where an `Identifiable` type's `id` has its place.
  ///   - defaults: The values of members that a record may lack, for a `var isDone = false`: Swift's
  ///     own decoding asks for each member. They are read only. Typed conditions count a missing
  ///     member as its default; it sorts first. An array or an object cannot be a default.
  public init(_ forms: Form..., key: KeyMember = .member("id"), defaults: [FieldName: FieldValue] = [:]) {
    self.key = key
    self.defaults = defaults
    for form in forms {
      if form.path.isEmpty {
        types[form.type] = form.form
      } else {
        fields[Field(type: form.type, path: form.path)] = form.form
      }
    }
  }

  /// The form of one type's values, in the whole record or in one member.
  public struct Form: Sendable {
    let type: ObjectIdentifier
    let path: [FieldName]
    let form: any Sendable

    /// Every value of a type has a form.
    public static func form<Value: ScalarFormed>(
      of type: Value.Type, _ form: ScalarForm<Value>
    ) -> Form {
      Form(type: ObjectIdentifier(type), path: [], form: form)
    }

    /// A type's values in one member have a form.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - path: The names of the members that lead there, the outermost first. The elements of an
    ///     array are in the array's member. A member of another type is not affected.
    ///   - form: Their form.
    public static func form<Value: ScalarFormed>(
      of type: Value.Type, at path: FieldName..., as form: ScalarForm<Value>
    ) -> Form {
      Form(type: ObjectIdentifier(type), path: path, form: form)
    }
  }

  private struct Field: Hashable {
    var type: ObjectIdentifier
    var path: [FieldName]
  }

  /// Whether some values have another form than their type.
  var hasFormsOfMembers: Bool { !fields.isEmpty }

  /// The form of a type's values in one member.
  func form<Value: ScalarFormed>(of type: Value.Type, at path: () -> [FieldName]) -> ScalarForm<Value> {
    let name = ObjectIdentifier(type)
    if !fields.isEmpty, let form = fields[Field(type: name, path: path())] as? ScalarForm<Value> {
      return form
    }
    return types[name] as? ScalarForm<Value> ?? Value.scalarForm
  }
}

/// A Swift type whose values are the keys of records.
public protocol RecordKey: Hashable, Sendable {
  /// The key of the record.
  var recordKey: String { get }
  /// The keys that remotes give such a record, ``recordKey`` among them.
  var recordKeys: [String] { get }
  /// Whether the value is a number in JSON.
  static var isNumber: Bool { get }
  /// Whether a key is the value's, in any spelling that the value is read from.
  func names(_ key: String) -> Bool
}

extension RecordKey {
  /// A string in JSON.
  public static var isNumber: Bool { false }

  /// ``recordKey`` alone.
  public var recordKeys: [String] { [recordKey] }

  /// Whether a key has the same UTF-8 bytes as the value's own.
  public func names(_ key: String) -> Bool { recordKey.isSameUTF8(as: key) }
}

extension String: RecordKey {
  /// The string.
  public var recordKey: String { self }
}

extension Int: RecordKey {
  /// A number in JSON.
  public static var isNumber: Bool { true }
  /// The number's decimal digits.
  public var recordKey: String { String(self) }
}

extension Int64: RecordKey {
  /// A number in JSON.
  public static var isNumber: Bool { true }
  /// The number's decimal digits.
  public var recordKey: String { String(self) }
}

extension RecordKey where Self: RawRepresentable, RawValue: RecordKey {
  /// The key that the raw value is.
  public var recordKey: String { rawValue.recordKey }
  /// Whether the raw value is a number in JSON.
  public static var isNumber: Bool { RawValue.isNumber }
}
