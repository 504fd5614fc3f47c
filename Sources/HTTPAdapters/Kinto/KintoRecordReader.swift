import SyncJSON
import SyncModels

/// Reads one record from a page, or from the answer to an edit.
struct KintoRecordReader: Sendable {
  private let reader: RecordReader
  private let recordsAlone: RecordReader

  private static let tombstoneMembers = ["id", "last_modified", "deleted"].map { Array($0.utf8) }

  init(_ entity: Entity) {
    func reader(deleted: FieldName?) -> RecordReader {
      RecordReader(
        entity,
        layout: RecordLayout(
          modifiedAt: "last_modified", unit: .milliseconds, deleted: deleted, entityTag: "last_modified"))
    }
    self.reader = reader(deleted: "deleted")
    recordsAlone = reader(deleted: nil)
  }

  /// Reads a record or a tombstone.
  ///
  /// Any other element is a malformed record, and so is one without a valid server time.
  func read(_ bytes: ArraySlice<UInt8>) -> RecordChange {
    var change = reader.read(bytes)
    // A server's tombstone has no other members. Beside others, `deleted` is the app's own member.
    if case .tombstone = change, Self.saysMore(bytes) { change = recordsAlone.read(bytes) }
    guard let (id, version) = change.identified else { return change }
    guard (1...KintoAnswer.latest).contains(version.modifiedAt.microseconds / 1000) else {
      return .malformed(
        MalformedRecord(
          type: id.type, key: id.key, bytes: Payload(bytes).detached(),
          reason: "\"last_modified\" is missing or not a time"))
    }
    return change
  }

  private static func saysMore(_ bytes: ArraySlice<UInt8>) -> Bool {
    var saysMore = false
    // An element that cannot be read to its end is no tombstone.
    try? JSONScanner.members(of: bytes) { member throws(JSONError) in
      if !tombstoneMembers.contains(where: member.hasKey) { saysMore = true }
    }
    return saysMore
  }
}

extension RecordChange {
  /// The record's id and version; `nil` for a malformed record.
  var identified: (id: RecordID, version: Version)? {
    switch self {
    case .upsert(let record): (record.id, record.version)
    case .tombstone(let tombstone): (tombstone.id, tombstone.version)
    case .malformed: nil
    }
  }
}
