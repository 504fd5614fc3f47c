package import SyncModels

extension TableRow where Column == WithheldColumn {
  /// Reads the entry under a key.
  ///
  /// - Parameter fields: The declared fields of a type's payload.
  package func entry(
    under key: WithheldChange.Key, fields: (RecordType, Payload) -> [FieldValue]
  ) throws(SyncError) -> WithheldChange {
    guard let kind = WithheldChange.Kind(rawValue: text(.kind)) else {
      throw SyncError(
        .storeUnreadable, during: "reading withheld changes", "An entry has a kind that does not exist.")
    }
    return WithheldChange(
      key: key, kind: kind, change: change(under: key, fields), reason: text(.reason),
      waitsFor: try decoded([RecordID].self, from: text(.waitsFor), what: "references of a withheld change"),
      pass: integer(.pass), finder: WithheldChange.Finder(stored: integer(.fence)), since: time(.since))
  }

  private func change(
    under key: WithheldChange.Key, _ fields: (RecordType, Payload) -> [FieldValue]
  ) -> RecordChange {
    let type = RecordType(text(.recordType))
    let (isCopy, isTombstone) = (holds("upsert", in: .change), holds("tombstone", in: .change))
    guard isCopy || isTombstone else {
      return .malformed(
        MalformedRecord(
          type: type, key: optionalText(.recordKey), bytes: Payload(bytes(.payload)), reason: text(.flaw),
          location: optionalText(.location)))
    }
    let id = RecordID(type: type, key: text(.recordKey))
    if case .record(let record) = key, record != id {
      row.noteDamage("a withheld change under another record's key")
    }
    if isTombstone {
      return .tombstone(
        Tombstone(id: id, version: version(.versionEpoch), entityTag: optionalText(.entityTag)))
    }
    var copy = copy(
      of: id, version: .versionEpoch, tag: .entityTag, schemaVersion: .schemaVersion, payload: .payload)
    copy.fields = fields(type, copy.payload)
    return .upsert(copy)
  }
}

extension RecordChange {
  /// What the columns of a change hold.
  package struct Stored {
    package let word: StaticString
    package let type: RecordType
    package let key: String?
    package var version: Version?
    package var tag: String?
    package var schemaVersion: Int64?
    package var flaw: String?
    package var location: String?
    package var payload: Payload?
  }

  /// What the columns of the change hold.
  package var stored: Stored {
    switch self {
    case .upsert(let record):
      Stored(
        word: "upsert", type: record.id.type, key: record.id.key, version: record.version,
        tag: record.entityTag, schemaVersion: Int64(record.schemaVersion), payload: record.payload)
    case .tombstone(let tombstone):
      Stored(
        word: "tombstone", type: tombstone.id.type, key: tombstone.id.key, version: tombstone.version,
        tag: tombstone.entityTag)
    case .malformed(let malformed):
      Stored(
        word: "poison", type: malformed.type, key: malformed.key, flaw: malformed.reason,
        location: malformed.location, payload: malformed.bytes)
    }
  }
}
