import SyncJSON

/// Reads records from JSON objects in one pass, and keeps the bytes.
///
/// ```swift
/// let reader = RecordReader(entity, layout: RecordLayout(modifiedAt: "updated_at"))
/// let change = reader.read(line, sequence: request.pass, location: "games.ndjson, line 12")
/// ```
public struct RecordReader: Sendable {
  private let entity: Entity
  private let layout: RecordLayout
  private let keys: Keys
  private let fieldKeys: [[UInt8]]

  private struct Keys {
    var id: [UInt8]
    var modifiedAt: [UInt8]?
    var deleted: [UInt8]?
    var entityTag: [UInt8]?
    var schemaVersion: [UInt8]?
  }

  /// Creates a reader for records of one type.
  public init(_ entity: Entity, layout: RecordLayout) {
    self.entity = entity
    self.layout = layout
    self.fieldKeys = entity.fields.map { Array($0.rawValue.utf8) }
    self.keys = Keys(
      id: Array(layout.id.rawValue.utf8),
      modifiedAt: layout.modifiedAt.map { Array($0.rawValue.utf8) },
      deleted: layout.deleted.map { Array($0.rawValue.utf8) },
      entityTag: layout.entityTag.map { Array($0.rawValue.utf8) },
      schemaVersion: entity.schemaVersionField.map { Array($0.rawValue.utf8) })
  }

  /// Reads one object: a copy, a tombstone, or a malformed record with a reason.
  ///
  /// The last copy of a repeated member counts. White space around the object is not kept.
  ///
  /// - Parameters:
  ///   - bytes: The object, as JSON text.
  ///   - sequence: The copy's ``Version/sequence``.
  ///   - location: Where the bytes were found, for a person. Evaluated only for a malformed record.
  /// - Complexity: O(*n*) in the bytes.
  public func read(
    _ bytes: ArraySlice<UInt8>, sequence: Int64 = 0, location: @autoclosure () -> String? = nil
  ) -> RecordChange {
    var draft = Draft(fields: entity.fields.count)
    let reason: String
    do {
      try JSONScanner.members(of: bytes) { member throws(JSONError) in visit(member, &draft) }
      switch finish(draft, bytes: bytes, sequence: sequence) {
      case .success(let change): return change
      case .failure(let flaw): reason = flaw.reason
      }
    } catch {
      reason = error.description
    }
    return .malformed(
      MalformedRecord(
        type: entity.type, key: draft.key, bytes: Payload(bytes).detached(), reason: reason,
        location: location()))
  }

  private struct Draft {
    var id: JSONValueSlice?
    var modifiedAt: JSONValueSlice?
    var schemaVersion: JSONValueSlice?
    var isDeleted = false
    var entityTag: String?
    var fields: [FieldValue]

    init(fields count: Int) {
      fields = Array(repeating: .null, count: count)
    }

    /// The record's key: a string that is not empty, or a whole number as spelled.
    var key: String? {
      guard let id else { return nil }
      if id.hasHalfCharacter { return nil }
      if id.kind == .string { return id.string().flatMap { $0.isEmpty ? nil : $0 } }
      return id.integer().map { String($0) }
    }
  }

  private struct Flaw: Error {
    var reason: String
  }

  private func visit(_ member: JSONMember, _ draft: inout Draft) {
    if member.hasKey(keys.id) { draft.id = member.value }
    if let key = keys.modifiedAt, member.hasKey(key) { draft.modifiedAt = member.value }
    if let key = keys.deleted, member.hasKey(key) { draft.isDeleted = member.value.bool() == true }
    if let key = keys.entityTag, member.hasKey(key) {
      let spelled = member.value.string() ?? String(decoding: member.value.bytes, as: UTF8.self)
      draft.entityTag = member.value.isNull ? nil : spelled
    }
    if let key = keys.schemaVersion, member.hasKey(key) { draft.schemaVersion = member.value }
    for (index, key) in fieldKeys.enumerated() where member.hasKey(key) {
      draft.fields[index] = entity.value(FieldValue(member.value), at: index)
    }
  }

  private func finish(
    _ draft: Draft, bytes: ArraySlice<UInt8>, sequence: Int64
  ) -> Result<RecordChange, Flaw> {
    guard let id = draft.id else { return .failure(Flaw(reason: "has no member \"\(layout.id)\"")) }
    guard let key = draft.key else {
      if id.hasHalfCharacter {
        return .failure(Flaw(reason: "\"\(layout.id)\" \(UnportableJSON.halfCharacter.description)"))
      }
      let wanted = "a string that is not empty, or a whole number"
      return .failure(Flaw(reason: "\"\(layout.id)\" is \(id.kind), not \(wanted)"))
    }
    var modifiedAt = Timestamp(microseconds: 0)
    if let value = draft.modifiedAt, !value.isNull {
      if let number = value.nearestWholeNumber {
        modifiedAt = layout.unit.timestamp(number)
      } else if layout.requiresTime {
        return .failure(Flaw(reason: "\"\(layout.modifiedAt ?? "")\" is not a number"))
      }
    }
    let recordID = RecordID(type: entity.type, key: key)
    let version = Version(sequence: sequence, modifiedAt: modifiedAt)
    if draft.isDeleted {
      return .success(.tombstone(Tombstone(id: recordID, version: version, entityTag: draft.entityTag)))
    }
    var schemaVersion = 1
    if let value = draft.schemaVersion, !value.isNull {
      guard let number = value.wholeNumber, let version = Int(exactly: number), version >= 1 else {
        let field = entity.schemaVersionField?.rawValue ?? ""
        return .failure(Flaw(reason: "\"\(field)\" is not a whole number of 1 or more"))
      }
      schemaVersion = version
    }
    return .success(
      .upsert(
        Record(
          id: recordID, version: version, entityTag: draft.entityTag, schemaVersion: schemaVersion,
          payload: Payload(JSONScanner.trimmed(bytes)), fields: draft.fields)))
  }
}

extension JSONValueSlice {
  /// The number rounded down, clamped to 64 bits.
  fileprivate var nearestWholeNumber: Int64? {
    if let number = integer() { return number }
    guard let number = double()?.rounded(.down) else { return nil }
    return Int64(exactly: number) ?? (number < 0 ? .min : .max)
  }

  /// The number if it is whole and fits 64 bits, in any spelling.
  fileprivate var wholeNumber: Int64? {
    integer() ?? double().flatMap { Int64(exactly: $0) }
  }
}
