#if CloudKit
  import SyncJSON
  import SyncModels

  /// The fields of a payload as the service takes them, each with its type.
  struct RecordFields {
    /// One field.
    struct Field {
      /// The value as the service spells it.
      var value: [UInt8]
      var type: FieldType?
      /// The other members of the field, as received.
      var extras: ArraySlice<UInt8>?
      /// The canonical spelling of the plain value, for comparisons.
      var plain: [UInt8]

      /// The field's object.
      var bytes: [UInt8] {
        var object = ObjectWriter()
        object.add("value", value[...])
        if let type { object.add("type", text: type.rawValue) }
        if let extras {
          // The contents of a checked value cannot fail.
          try? JSONScanner.members(of: extras, depthLimit: .max) { member throws(JSONError) in
            object.add(rawKey: member.rawKey, member.value.bytes)
          }
        }
        return object.bytes
      }
    }

    /// Why a payload has no spelling as fields, without its values.
    struct Flaw: Error {
      var reason: String
    }

    private(set) var names: [String] = []
    private(set) var fields: [String: Field] = [:]
    /// The fields without a plain form, as received.
    private(set) var raw: [String: ArraySlice<UInt8>] = [:]

    /// Spells a payload.
    ///
    /// A field's type is that of the base's field of the same name, the declared one, that of a
    /// declared reference, or the natural one of the value, whichever is known first.
    ///
    /// - Parameter base: The payload that the edit was made on, which tells the types.
    /// - Throws: The flaw, which names the member.
    init(
      _ payload: Payload, base: Payload? = nil, of entity: Entity, types: [FieldName: FieldType] = [:],
      zone: ZoneID? = nil
    ) throws(Flaw) {
      let map = try Self.map(payload)
      let notes = Annotations(base.flatMap { try? FieldMap($0) } ?? map)
      raw = notes.raw
      for name in map.fields where !RecordPayload.isReserved(name.rawValue) && !map.isLacking(name) {
        guard let bytes = map[name], let value = try? JSONValueSlice(checking: bytes) else { continue }
        let known =
          notes.type(of: name) ?? types[name].map { .known($0) }
          ?? (entity.references.contains { $0.field == name } ? Self.reference(value) : nil)
          ?? FieldType.natural(of: value).map { .known($0) }
        guard let known else {
          throw Flaw(
            reason:
              "\"\(name)\" is \(value.kind == .array ? "an array whose type its elements do not tell" : "an object"). Declare the field's type."
          )
        }
        var type: FieldType?
        if case .known(let spelled) = known { type = spelled }
        fields[name.rawValue] = try Self.field(name, value, type, notes, zone)
        names.append(name.rawValue)
      }
    }

    private static func map(_ payload: Payload) throws(Flaw) -> FieldMap {
      do {
        return try FieldMap(payload)
      } catch {
        throw Flaw(reason: "it \(error.description)")
      }
    }

    private static func reference(_ value: JSONValueSlice) -> Annotations.Known {
      .known(value.kind == .array ? .referenceList : .reference)
    }

    private static func field(
      _ name: FieldName, _ value: JSONValueSlice, _ type: FieldType?, _ notes: Annotations, _ zone: ZoneID?
    ) throws(Flaw) -> Field {
      var spelled = Array(value.bytes)
      var plain = spelled
      if let flag = value.bool(), type == FieldType(rawValue: "INT64") {
        spelled = Array(flag ? "1".utf8 : "0".utf8)
        plain = spelled
      } else if type == .reference {
        guard let key = Self.key(value) else { throw mismatch(name, type, value) }
        spelled = Self.reference(to: key, notes.references[name.rawValue], zone)
        plain = key
      } else if type == .referenceList {
        (spelled, plain) = try referenceList(name, value, notes, zone)
      } else if let type, !type.allows(value) {
        throw mismatch(name, type, value)
      }
      return Field(
        value: spelled, type: type, extras: notes.extras[name.rawValue],
        plain: JSONScanner.canonical(plain[...]))
    }

    private static func referenceList(
      _ name: FieldName, _ value: JSONValueSlice, _ notes: Annotations, _ zone: ZoneID?
    ) throws(Flaw) -> (spelled: [UInt8], plain: [UInt8]) {
      guard value.kind == .array else { throw mismatch(name, .referenceList, value) }
      var keys: [[UInt8]?] = []
      // The contents of a checked value cannot fail.
      try? JSONScanner.elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
        keys.append(key(element))
      }
      let sound = keys.compactMap(\.self)
      guard sound.count == keys.count else { throw mismatch(name, .referenceList, value) }
      var rests: [ArraySlice<UInt8>] = []
      if let known = notes.references[name.rawValue] {
        try? JSONScanner.elements(of: known, depthLimit: .max) { rest throws(JSONError) in
          rests.append(rest.bytes)
        }
      }
      // A list that grew or shrank: what the first reference said holds for all.
      let isSameLength = rests.count == sound.count
      let spelled = sound.enumerated().map { index, key in
        reference(to: key, isSameLength ? rests[index] : rests.first, zone)
      }
      return (SplitReference.array(spelled), SplitReference.array(sound))
    }

    /// A target's key as a JSON string. A whole number is taken as it is spelled.
    private static func key(_ value: JSONValueSlice) -> [UInt8]? {
      if value.kind == .string { return Array(value.bytes) }
      return value.integer().map { JSONString.quoted(String($0)) }
    }

    private static func reference(
      to key: [UInt8], _ rest: ArraySlice<UInt8>?, _ zone: ZoneID?
    ) -> [UInt8] {
      var object = ObjectWriter()
      object.add("recordName", key[...])
      if let rest {
        try? JSONScanner.members(of: rest, depthLimit: .max) { member throws(JSONError) in
          object.add(rawKey: member.rawKey, member.value.bytes)
        }
      } else {
        object.add("action", text: "NONE")
        if let zone, !zone.isDefault { object.add("zoneID", zone.bytes[...]) }
      }
      return object.bytes
    }

    private static func mismatch(_ name: FieldName, _ type: FieldType?, _ value: JSONValueSlice) -> Flaw {
      Flaw(
        reason:
          "\"\(name)\" is \(type?.rawValue ?? "of no type") at the server, and the edit has \(value.kind).")
    }

    /// The fields that differ from a base's, and whether any are gone.
    func changes(since base: RecordFields) -> (changed: [String], removesAny: Bool) {
      (
        names.filter { fields[$0]?.plain != base.fields[$0]?.plain },
        base.names.contains { fields[$0] == nil }
      )
    }

    /// Whether both have the same values, in any spelling.
    func hasSameContent(as other: RecordFields) -> Bool {
      guard fields.mapValues(\.plain) == other.fields.mapValues(\.plain) else { return false }
      return raw.mapValues { JSONScanner.canonical($0) } == other.raw.mapValues { JSONScanner.canonical($0) }
    }

    /// Some of the fields as one object; without names, all of them.
    func object(_ chosen: [String]? = nil) -> [UInt8] {
      var object = ObjectWriter()
      for name in chosen ?? names {
        if let field = fields[name] { object.add(name, field.bytes[...]) }
      }
      guard chosen == nil else { return object.bytes }
      for (name, bytes) in raw.sorted(by: { $0.key < $1.key }) { object.add(name, bytes) }
      return object.bytes
    }
  }

  /// What a payload's own members say about its fields.
  private struct Annotations {
    enum Known {
      case known(FieldType)
      /// The service gave no type.
      case none
    }

    private var types: [String: Known] = [:]
    private var naturals: FieldMap
    private(set) var references: [String: ArraySlice<UInt8>] = [:]
    private(set) var extras: [String: ArraySlice<UInt8>] = [:]
    private(set) var raw: [String: ArraySlice<UInt8>] = [:]
    /// Whether the payload came from the service, which gave every field its type.
    private let isFromServer: Bool

    init(_ map: FieldMap) {
      naturals = map
      isFromServer = map[RecordPayload.record] != nil
      references = Self.members(of: map[RecordPayload.references])
      extras = Self.members(of: map[RecordPayload.extras])
      raw = Self.members(of: map[RecordPayload.raw])
      for (name, bytes) in Self.members(of: map[RecordPayload.types]) {
        guard let value = try? JSONValueSlice(checking: bytes) else { continue }
        types[name] = value.string().map { .known(FieldType(rawValue: $0)) } ?? Known.none
      }
    }

    /// The type of a field that the service has; `nil` for a new one.
    func type(of name: FieldName) -> Known? {
      if let type = types[name.rawValue] { return type }
      guard isFromServer, let bytes = naturals[name], let value = try? JSONValueSlice(checking: bytes) else {
        return nil
      }
      return FieldType.natural(of: value).map { .known($0) }
    }

    private static func members(of object: ArraySlice<UInt8>?) -> [String: ArraySlice<UInt8>] {
      guard let object else { return [:] }
      var members: [String: ArraySlice<UInt8>] = [:]
      // A member that an app overwrote says nothing.
      try? JSONScanner.members(of: object, depthLimit: .max) { member throws(JSONError) in
        members[member.key] = member.value.bytes
      }
      return members
    }
  }
#endif
