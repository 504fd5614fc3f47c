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

    /// A record of a listing without fields.
    func present(_ record: RecordDictionary) -> PresentRecord? {
      guard let name = record.name, let modified = record.modified else { return nil }
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

  /// The list of records in an answer, each read once.
  struct RecordList {
    private(set) var records: [RecordDictionary] = []
    /// The elements that could not be read at all, each with its flaw.
    private(set) var unreadable: [(bytes: ArraySlice<UInt8>, reason: String)] = []
    private(set) var marker: String?

    /// Creates an empty list.
    init() {}

    /// Reads an answer.
    ///
    /// - Throws: `invalidResponse` for an answer that is not JSON, or has no list of records.
    init(_ body: ArraySlice<UInt8>, during task: String) throws(SyncError) {
      var hasList = false
      do {
        try JSONScanner.members(of: body, depthLimit: .max) { member throws(JSONError) in
          if member.hasKey(Array("continuationMarker".utf8)) { marker = member.value.string() }
          guard member.hasKey(Array("records".utf8)), member.value.kind == .array else { return }
          hasList = true
          try JSONScanner.elements(of: member.value.bytes, depthLimit: .max) { element throws(JSONError) in
            take(element)
          }
        }
      } catch {
        throw SyncError(
          .invalidResponse, during: task, "CloudKit's answer \(error.description).", underlying: error)
      }
      guard hasList else {
        throw SyncError(.invalidResponse, during: task, "CloudKit's answer has no list \"records\".")
      }
    }

    private mutating func take(_ element: JSONValueSlice) {
      do {
        records.append(try RecordDictionary(element.bytes))
      } catch {
        // Such a record is one that nests too deeply; the answer around it is sound.
        unreadable.append((element.bytes, error.description))
      }
    }

    /// The unreadable elements as malformed records of a type.
    func malformed(_ type: RecordType) -> [RecordChange] {
      unreadable.map { bytes, reason in
        .malformed(MalformedRecord(type: type, bytes: Payload(bytes).detached(), reason: reason))
      }
    }
  }
#endif
