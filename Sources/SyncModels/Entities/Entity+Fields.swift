public import SyncJSON

extension Entity {
  /// The values of the declared fields in a payload, in the order of ``fields``.
  ///
  /// Sources need not call this: ``RecordReader`` lifts the fields in the pass that reads the record. It is for payloads that
  /// come back out of a store, perhaps under a changed declaration.
  ///
  /// - Throws: ``JSONError`` where the payload is not one JSON object.
  public func fields(of payload: Payload) throws(JSONError) -> [FieldValue] {
    try payload.values(of: fields).enumerated().map { value($0.element, at: $0.offset) }
  }

  /// The schema that a payload says it was written with: the first one if it says nothing, `nil` if it says nonsense.
  ///
  /// - Throws: ``JSONError`` where the payload is not one JSON object.
  package func schemaVersion(of payload: Payload) throws(JSONError) -> Int? {
    guard let schemaVersionField else { return 1 }
    switch try payload.values(of: [schemaVersionField]).first {
    case .null, nil: return 1
    case .integer(let number): return number >= 1 ? Int(exactly: number) : nil
    case .double(let number): return number >= 1 ? Int(exactly: number) : nil
    default: return nil
    }
  }

  /// A lifted value as it is stored: what a reference holds is the key of a record.
  ///
  /// Keys may be whole numbers in JSON, and are then taken as they are spelled; an empty string names no record.
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
  /// The values of some members, in the order asked for; null for those that are missing.
  ///
  /// - Throws: ``JSONError`` where the payload is not one JSON object.
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
  /// The value of a JSON member as fields compare it.
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
