#if CloudKit
  import SyncJSON
  import SyncModels

  /// Reads the records of an answer as changes of one type.
  struct CloudKitRecordReader {
    let entity: Entity
    let type: CloudKitType
    private let reader: RecordReader

    init(_ entity: Entity, _ type: CloudKitType) {
      self.entity = entity
      self.type = type
      reader = RecordReader(entity, layout: RecordLayout(id: RecordPayload.key))
    }

    /// Whether a record belongs to the type. Tombstones may have no type.
    func concerns(_ record: RecordDictionary) -> Bool {
      if let recordType = record.recordType { return recordType == type.recordType }
      return record.isDeleted || record.errorCode != nil
    }

    /// Reads a record, a tombstone or an error in a record's place.
    ///
    /// - Parameter time: The time of a tombstone that has none of its own.
    func read(_ record: RecordDictionary, at time: Timestamp = Timestamp(microseconds: 0)) -> RecordChange {
      if let code = record.errorCode {
        return malformed(record, "the service answered \(code) in the record's place")
      }
      if let flaw = record.flaw { return malformed(record, flaw) }
      guard let name = record.name else { return malformed(record, "has no name") }
      let modified = record.modified.map { Timestamp(milliseconds: $0) }
      if record.isDeleted || isMarked(record) {
        return .tombstone(
          Tombstone(
            id: RecordID(type: entity.type, key: name), version: Version(modifiedAt: modified ?? time),
            entityTag: record.changeTag))
      }
      guard let modified else { return malformed(record, "has no time in \"modified.timestamp\"") }
      switch reader.read(RecordPayload.payload(of: record)[...]) {
      case .upsert(var copy):
        copy.version = Version(modifiedAt: modified)
        copy.entityTag = record.changeTag
        return .upsert(copy)
      case .malformed(let flaw): return malformed(record, flaw.reason)
      case .tombstone(let tombstone): return .tombstone(tombstone)
      }
    }

    /// A record of a listing without fields; `nil` for what shows no presence.
    func present(_ record: RecordDictionary) -> PresentRecord? {
      guard record.flaw == nil, !record.isDeleted, !isMarked(record), let name = record.name,
        let modified = record.modified
      else { return nil }
      return PresentRecord(
        id: RecordID(type: entity.type, key: name),
        version: Version(modifiedAt: Timestamp(milliseconds: modified)))
    }

    /// Whether the app's own field says that the record is deleted.
    func isMarked(_ record: RecordDictionary) -> Bool {
      guard let deleted = type.deleted,
        let value = record.fields.last(where: { $0.name == deleted.rawValue })?.value
      else { return false }
      return value.bool() ?? value.double().map { $0 != 0 } ?? false
    }

    /// Bytes that are not a record of the type.
    func malformed(_ record: RecordDictionary, _ reason: String) -> RecordChange {
      let key = record.name.flatMap { $0.isEmpty ? nil : $0 }
      return .malformed(
        MalformedRecord(
          type: entity.type, key: key, bytes: Payload(record.bytes).detached(), reason: reason))
    }
  }
#endif
