#if CloudKit
  import SyncJSON
  import SyncModels

  /// A record's fields as plain JSON members, and the rest beside them.
  ///
  /// Nothing is lost: the members that begin with `___`, as no field's name does, hold the types
  /// that the plain values do not tell by themselves, and every member that has no plain form.
  enum RecordPayload {
    /// The member that holds the record's name.
    static let key: FieldName = "recordName"
    /// The types that plain values do not tell; null for none.
    static let types: FieldName = "___types"
    /// The references, without the names of their targets.
    static let references: FieldName = "___references"
    /// The members of fields besides their values and types.
    static let extras: FieldName = "___extras"
    /// The fields that have no plain form, as received.
    static let raw: FieldName = "___fields"
    /// The members of the record besides its name and fields, as received.
    static let record: FieldName = "___record"
    /// The members that the service manages: no edit concerns them.
    static let managed: [FieldName] = [key, types, references, extras, raw, record]

    /// Whether a name is one of the library's own members, or the key.
    static func isReserved(_ name: String) -> Bool {
      name == key.rawValue || name.hasPrefix("___") || name == FieldName.editStamp.rawValue
    }

    /// The payload of a record.
    static func payload(of record: RecordDictionary) -> [UInt8] {
      var draft = Draft()
      for field in record.fields { draft.add(field) }
      var rest = ObjectWriter()
      for (key, value) in record.others { rest.add(rawKey: key, value) }
      var payload = ObjectWriter()
      payload.add(key.rawValue, JSONString.quoted(record.name ?? "")[...])
      for (name, value) in draft.plain { payload.add(name, value) }
      for (name, object) in [
        (types, draft.types), (references, draft.references), (extras, draft.extras), (raw, draft.raw),
        (Self.record, rest),
      ] where !object.isEmpty {
        payload.add(name.rawValue, object.bytes[...])
      }
      return payload.bytes
    }

    private struct Draft {
      var plain: [(name: String, value: ArraySlice<UInt8>)] = []
      var types = ObjectWriter()
      var references = ObjectWriter()
      var extras = ObjectWriter()
      var raw = ObjectWriter()

      mutating func add(_ field: RecordDictionary.Field) {
        guard let value = field.value, !value.isNull, !field.hasOddType,
          !RecordPayload.isReserved(field.name)
        else { return raw.add(field.name, field.bytes) }
        let type = field.type.map { FieldType(rawValue: $0) }
        if type == .reference || type == .referenceList {
          guard let split = SplitReference(value, isList: type == .referenceList) else {
            return raw.add(field.name, field.bytes)
          }
          plain.append((field.name, split.plain[...]))
          references.add(field.name, split.rest[...])
        } else {
          plain.append((field.name, value.bytes))
        }
        if type == nil || type != FieldType.natural(of: value) {
          types.add(field.name, (field.type.map { JSONString.quoted($0) } ?? Array("null".utf8))[...])
        }
        if !field.others.isEmpty {
          var others = ObjectWriter()
          for (key, value) in field.others { others.add(rawKey: key, value) }
          extras.add(field.name, others.bytes[...])
        }
      }
    }
  }

  /// A reference, or a list of them, as names of targets and a rest.
  struct SplitReference {
    /// The name, or an array of names.
    private(set) var plain: [UInt8]
    /// The other members of the reference, or an array of such objects.
    private(set) var rest: [UInt8]

    /// Splits a value; `nil` for one that is no reference with a target.
    init?(_ value: JSONValueSlice, isList: Bool) {
      guard isList else {
        guard let (name, rest) = Self.split(value) else { return nil }
        (plain, self.rest) = (Array(name), rest)
        return
      }
      guard value.kind == .array else { return nil }
      var (names, rests): ([[UInt8]], [[UInt8]]) = ([], [])
      var isSound = true
      // The contents of a checked value cannot fail.
      try? JSONScanner.elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
        guard let (name, rest) = Self.split(element) else { return isSound = false }
        names.append(Array(name))
        rests.append(rest)
      }
      guard isSound else { return nil }
      plain = Self.array(names)
      rest = Self.array(rests)
    }

    private static func split(_ value: JSONValueSlice) -> (name: ArraySlice<UInt8>, rest: [UInt8])? {
      guard value.kind == .object else { return nil }
      var name: ArraySlice<UInt8>?
      var rest = ObjectWriter()
      // The contents of a checked value cannot fail.
      try? JSONScanner.members(of: value.bytes, depthLimit: .max) { member throws(JSONError) in
        if member.hasKey(Array("recordName".utf8)) {
          name = member.value.kind == .string ? member.value.bytes : nil
        } else {
          rest.add(rawKey: member.rawKey, member.value.bytes)
        }
      }
      return name.map { ($0, rest.bytes) }
    }

    /// Joins elements to an array.
    static func array(_ elements: [[UInt8]]) -> [UInt8] {
      Array("[".utf8) + elements.joined(separator: Array(",".utf8)) + Array("]".utf8)
    }
  }

  /// Writes a JSON object member by member. Values are taken as they are spelled.
  struct ObjectWriter {
    private var text: [UInt8] = [UInt8(ascii: "{")]

    /// Whether there is no member.
    var isEmpty: Bool { text.count == 1 }

    /// The object.
    var bytes: [UInt8] { text + [UInt8(ascii: "}")] }

    /// Adds a member.
    mutating func add(_ key: String, _ value: ArraySlice<UInt8>) {
      separate()
      JSONString.append(key, to: &text)
      text.append(UInt8(ascii: ":"))
      text += value
    }

    /// Adds a member with a string.
    mutating func add(_ key: String, text value: String) { add(key, JSONString.quoted(value)[...]) }

    /// Adds a member whose key is spelled as received, without its quotes.
    mutating func add(rawKey: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
      separate()
      text.append(UInt8(ascii: "\""))
      text += rawKey
      text += Array("\":".utf8)
      text += value
    }

    private mutating func separate() { if text.count > 1 { text.append(UInt8(ascii: ",")) } }
  }
#endif
