public import SyncJSON

extension Entity {
  /// The values of the declared fields in a payload, in the order of ``fields``.
  ///
  /// Sources need not call this: ``RecordReader`` extracts the fields in the pass that reads the
  /// record. It serves payloads that are read from a store, perhaps under a changed declaration.
  ///
  /// - Throws: ``JSONError`` for a payload that is not one JSON object.
  public func fields(of payload: Payload) throws(JSONError) -> [FieldValue] {
    try payload.values(of: fields).enumerated().map { value($0.element, at: $0.offset) }
  }

  /// The schema version stated in a payload.
  ///
  /// The version is 1 if the payload states none, and `nil` if the stated value is not a valid
  /// version.
  ///
  /// - Throws: ``JSONError`` for a payload that is not one JSON object.
  package func schemaVersion(of payload: Payload) throws(JSONError) -> Int? {
    guard let schemaVersionField else { return 1 }
    switch try payload.values(of: [schemaVersionField]).first {
    case .null, nil: return 1
    case .integer(let number): return number >= 1 ? Int(exactly: number) : nil
    case .double(let number): return number >= 1 ? Int(exactly: number) : nil
    default: return nil
    }
  }

  /// A field's value as it is stored. The value of a reference is a record's key.
  ///
  /// A key may be a whole number in JSON, and is then taken as it is spelled. An empty string
  /// refers to no record.
  func value(_ value: FieldValue, at index: Int) -> FieldValue {
    guard index < references.count else { return value }
    switch value {
    case .integer(let number): return .string(String(number))
    case .string(""): return .null
    default: return value
    }
  }
}

extension Payload {
  /// The values of some members, in the order of the names; null for missing members.
  ///
  /// - Throws: ``JSONError`` for a payload that is not one JSON object.
  /// - Complexity: O(*n*) in the payload's bytes, for a handful of names.
  public func values(of names: [FieldName]) throws(JSONError) -> [FieldValue] {
    let keys = names.map { Array($0.rawValue.utf8) }
    var values = Array(repeating: FieldValue.null, count: names.count)
    try JSONScanner.members(of: bytes) { member throws(JSONError) in
      for (index, key) in keys.enumerated() where member.hasKey(key) {
        values[index] = FieldValue(member.value)
      }
    }
    return values
  }
}

extension FieldValue {
  /// Creates the field value of a JSON member.
  public init(_ value: JSONValueSlice) {
    switch value.kind {
    case .null: self = .null
    case .true: self = .boolean(true)
    case .false: self = .boolean(false)
    case .string: self = value.string().map { .string($0) } ?? .null
    case .number: self = value.integer().map { .integer($0) } ?? .double(value.double() ?? 0)
    case .object, .array: self = .composite
    }
  }
}

extension Record {
  /// Returns the record with the values of the fields that a declaration names.
  ///
  /// The payload was parsed when the record was read or edited. On a failure the fields stay empty.
  package func withFields(of entity: Entity) -> Record {
    var record = self
    record.fields = (try? entity.fields(of: payload)) ?? []
    return record
  }
}
