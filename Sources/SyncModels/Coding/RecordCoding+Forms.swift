package import SyncJSON

extension RecordCoding: JSONForms {
  package func read<Value>(
    _ type: Value.Type, from json: JSONValueSlice, at path: () -> [String]
  ) throws(JSONFormFailure) -> Value? {
    guard let formed = type as? any ScalarFormed.Type else { return nil }
    return try value(formed, from: json, at: path) as? Value
  }

  private func value<Formed: ScalarFormed>(
    _ type: Formed.Type, from json: JSONValueSlice, at path: () -> [String]
  ) throws(JSONFormFailure) -> Formed {
    let form = form(of: type) { path().map { FieldName($0) } }
    return try JSONScalar.value(in: json, by: form.read, named: form.name)
  }

  package func place<Value>(of type: Value.Type) -> JSONFormPlace {
    guard let formed = type as? any ScalarFormed.Type else { return .ownDecoding }
    return hasFormsOfMembers ? .byMember : .everywhere(reader(of: formed))
  }

  private func reader<Formed: ScalarFormed>(of type: Formed.Type) -> AnyObject {
    let form = form(of: type) { [] }
    // Its parts, as a generic form costs a search for its type with each value.
    let (read, name) = (form.read, form.name)
    return JSONFormReader<Formed> { (json) throws(JSONFormFailure) in
      try JSONScalar.value(in: json, by: read, named: name)
    }
  }

  package func write<Value>(_ value: Value, at path: () -> [String]) throws(JSONFormFailure) -> [UInt8]? {
    // A cast of the value itself would also unwrap optionals.
    guard Value.self is any ScalarFormed.Type, let formed = value as? any ScalarFormed else { return nil }
    return try text(of: formed, at: path)
  }

  private func text<Formed: ScalarFormed>(
    of value: Formed, at path: () -> [String]
  ) throws(JSONFormFailure) -> [UInt8] {
    try text(of: scalar(of: value, at: path), as: Formed.self)
  }

  /// A value in its form.
  func scalar<Formed: ScalarFormed>(
    of value: Formed, at path: () -> [String]
  ) throws(JSONFormFailure) -> JSONScalar {
    let form = form(of: Formed.self) { path().map { FieldName($0) } }
    guard let scalar = form.write(value) else {
      throw JSONFormFailure("The \(Formed.self) cannot be written as \(form.name).")
    }
    return scalar
  }

  private func text<Formed>(
    of scalar: JSONScalar, as type: Formed.Type
  ) throws(JSONFormFailure) -> [UInt8] {
    if let text = scalar.json { return text }
    throw JSONFormFailure("The form of the \(type) gives a number that JSON cannot spell.")
  }
}

extension RecordCoding {
  /// Encodes the value of a member.
  package func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    var encoder = JSONByteEncoder()
    encoder.forms = self
    return try encoder.encode(value)
  }

  /// Decodes the value of a member.
  package func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
    var decoder = JSONByteDecoder()
    decoder.forms = self
    return try decoder.decode(type, from: bytes)
  }
}

extension JSONScalar {
  /// Reads a value of a form.
  fileprivate static func value<Value>(
    in json: JSONValueSlice, by read: (JSONValueSlice) throws(OtherForm) -> Value, named form: String
  ) throws(JSONFormFailure) -> Value {
    // Not an optional of the type, which would be searched for with each value.
    do throws(OtherForm) { return try read(json) } catch {}
    let found = json.kind == .string ? "another string" : "\(json.kind)"
    throw JSONFormFailure("Expected \(form), found \(found). A RecordCoding selects other forms.")
  }

  /// A JSON value; `nil` for null, an object or an array.
  init?(_ json: JSONValueSlice) {
    switch json.kind {
    case .string: self = .string(json.string() ?? "")
    case .number: self = .number(String(decoding: json.bytes, as: UTF8.self))
    case .true: self = .boolean(true)
    case .false: self = .boolean(false)
    case .null, .object, .array: return nil
    }
  }

  /// The scalar as JSON text; `nil` for a number that JSON cannot spell.
  var json: [UInt8]? {
    switch self {
    case .boolean(let value): return Array((value ? "true" : "false").utf8)
    case .number(let digits):
      let bytes = Array(digits.utf8)
      guard let value = try? JSONValueSlice(checking: bytes[...]), value.kind == .number else { return nil }
      return Array(value.bytes)
    case .string(let text):
      var bytes: [UInt8] = []
      JSONString.append(text, to: &bytes)
      return bytes
    }
  }

  /// The scalar as stores compare it; null for a number that JSON cannot spell.
  var fieldValue: FieldValue {
    switch self {
    case .boolean(let value): .boolean(value)
    case .string(let text): .string(text)
    case .number(let digits):
      (try? JSONValueSlice(checking: Array(digits.utf8)[...])).map { FieldValue($0) } ?? .null
    }
  }
}

extension FieldValue {
  /// The value as a scalar; `nil` for null, an array or an object.
  var scalar: JSONScalar? {
    switch self {
    case .null, .composite: nil
    case .integer(let value): .number("\(value)")
    case .double(let value): .number("\(value)")
    case .string(let value): .string(value)
    case .boolean(let value): .boolean(value)
    }
  }
}

extension JSONScalar {
  /// Parses a number in the grammar of JSON; `nil` for other text.
  package init?(spelling text: String) {
    guard let value = try? JSONValueSlice(checking: Array(text.utf8)[...]), value.kind == .number,
      value.bytes.count == text.utf8.count
    else { return nil }
    self = .number(text)
  }
}

extension ScalarForm {
  /// A value as stores compare it; null if the form cannot write it.
  package func fieldValue(of value: Value) -> FieldValue { write(value)?.fieldValue ?? .null }
}
