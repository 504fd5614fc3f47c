/// The rules for a set of declarations, and the message for each violation.
enum EntityChecks {
  static func check(_ entities: [Entity]) throws(SyncError) {
    var seen: [String: RecordType] = [:]
    for entity in entities {
      try check(name: entity.type.rawValue, of: "record type")
      // A store with case-insensitive names would put both types into one table.
      if let other = seen.updateValue(entity.type, forKey: entity.type.rawValue.lowercased()) {
        throw invalid(
          other == entity.type
            ? "The record type \(entity.type) is declared twice."
            : "The record types \(other) and \(entity.type) differ in case alone.")
      }
      try checkFields(of: entity)
    }
    let declared = Set(entities.map(\.type))
    let local = Set(entities.filter { $0.access == .local }.map(\.type))
    for entity in entities where entity.access != .local {
      guard let reference = entity.references.first(where: { $0.isOrdered && local.contains($0.target) })
      else { continue }
      throw invalid(
        "\(entity.type).\(reference.field) refers to \(reference.target), which is local. Declare the reference with `ordered: false`."
      )
    }
    for entity in entities {
      for reference in entity.references where !declared.contains(reference.target) {
        throw invalid(
          "\(entity.type).\(reference.field) refers to \(reference.target), which is not declared.")
      }
    }
  }

  private static func checkFields(of entity: Entity) throws(SyncError) {
    guard entity.schemaVersion >= 1 else {
      throw invalid("\(entity.type) has schema version \(entity.schemaVersion); the first one is 1.")
    }
    if let key = entity.naturalKey, key.fields.isEmpty {
      throw invalid("The natural key of \(entity.type) has no field.")
    }
    if let stamp = entity.stampField, entity.fields.contains(stamp) || stamp == entity.schemaVersionField {
      throw invalid("\(entity.type).\(stamp) is where edits are stamped, and cannot be anything else.")
    }
    if let field = entity.immutable.first(where: {
      $0 == entity.stampField || $0 == entity.schemaVersionField
    }) {
      throw invalid("\(entity.type).\(field) changes with the edits of a record, and cannot be immutable.")
    }
    let named =
      entity.fields + entity.immutable + [entity.schemaVersionField, entity.stampField].compactMap(\.self)
    if named.contains(.editStamp) {
      throw invalid("\(entity.type).\(FieldName.editStamp) is the library's own, and cannot be declared.")
    }
    for field in named {
      let name = field.rawValue
      guard (1...128).contains(name.utf8.count), !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
      else {
        throw invalid(
          "\(entity.type) declares a field of \(Counted(name.utf8.count, "byte")) or with a control character in its name; 1 to 128 bytes are allowed."
        )
      }
    }
    var fields: Set<FieldName> = []
    for reference in entity.references where !fields.insert(reference.field).inserted {
      throw invalid("\(entity.type) declares \(reference.field) as a reference twice.")
    }
  }

  private static func check(name: String, of kind: String) throws(SyncError) {
    let isAllowed = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isAllowed), !name.hasPrefix("-") else {
      throw invalid(
        "\"\(name)\" is not a valid name for a \(kind): use 1 to 64 ASCII letters, digits, hyphens and underscores."
      )
    }
  }

  private static func invalid(_ message: String) -> SyncError {
    SyncError(.invalidConfiguration, during: "declaring the record types", message)
  }
}
