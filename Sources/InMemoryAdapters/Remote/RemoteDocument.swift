import SyncJSON
import SyncModels

/// One state of a record at the remote.
struct RemoteDocument: Sendable {
  enum Body: Sendable {
    case record(Payload)
    case malformed(Payload, key: String?)
    case deleted
  }

  let key: String
  let body: Body
  var version: Version
  /// How often the collection had been wiped when this was written: numbers start over then, and tags must not come twice.
  var life = 0

  var isDeleted: Bool {
    if case .deleted = body { true } else { false }
  }

  /// The name of this state, unlike that of any other of the record.
  var tag: String { life == 0 ? String(version.sequence) : "\(life).\(version.sequence)" }

  /// Whether this is the state of a tag, or, without one, of a version.
  func isState(tag: String?, version: Version) -> Bool {
    if let tag { return tag == self.tag }
    return version.sequence == self.version.sequence && version.modifiedAt == self.version.modifiedAt
  }

  /// How the document is sent.
  ///
  /// - Parameter scan: The number that replaces the change's own where versions count scans.
  func change(for entity: Entity, scan: Int64? = nil) -> RecordChange {
    let id = RecordID(type: entity.type, key: key)
    let version = Version(sequence: scan ?? version.sequence, modifiedAt: version.modifiedAt)
    switch body {
    case .deleted:
      return .tombstone(Tombstone(id: id, version: version, entityTag: tag))
    case .malformed(let bytes, let key):
      return .malformed(MalformedRecord(type: entity.type, key: key, bytes: bytes, reason: "is no record"))
    case .record(let payload):
      // Keys are the server's own here, so payloads need not repeat them, as RecordReader would demand.
      do {
        let schema = try entity.schemaVersion(of: payload)
        guard let schema else {
          return .malformed(
            MalformedRecord(
              type: entity.type, key: key, bytes: payload, reason: "has no readable schema version"))
        }
        return .upsert(
          Record(
            id: id, version: version, entityTag: tag, schemaVersion: schema, payload: payload,
            fields: try entity.fields(of: payload)))
      } catch {
        return .malformed(
          MalformedRecord(type: entity.type, key: key, bytes: payload, reason: error.description))
      }
    }
  }
}
