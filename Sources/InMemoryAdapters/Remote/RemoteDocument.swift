import SyncJSON
import SyncModels

/// One state of a record at the remote.
struct RemoteDocument: Sendable {
  enum Body: Sendable {
    case record(Payload)
    case malformed(Payload, key: String?)
    /// Deleted by an edit with this stamp; `nil` for an unknown one.
    case deleted(EditStamp?)
  }

  let key: String
  let body: Body
  var version: Version
  /// The number of wipes of the collection before this document was written.
  ///
  /// A wipe restarts the numbering, and tags must not repeat.
  var life = 0

  var isDeleted: Bool {
    if case .deleted = body { true } else { false }
  }

  /// The entity tag of this state, unique among the record's states.
  var tag: String { life == 0 ? String(version.sequence) : "\(life).\(version.sequence)" }

  /// Whether a tag identifies this state, or a version if there is no tag.
  func isState(tag: String?, version: Version) -> Bool {
    if let tag { return tag == self.tag }
    return version.sequence == self.version.sequence && version.modifiedAt == self.version.modifiedAt
  }

  /// The document as a change.
  ///
  /// - Parameter scan: Replaces the change's number if versions count scans.
  func change(for entity: Entity, scan: Int64? = nil) -> RecordChange {
    let id = RecordID(type: entity.type, key: key)
    let version = Version(sequence: scan ?? version.sequence, modifiedAt: version.modifiedAt)
    switch body {
    case .deleted(let stamp):
      return .tombstone(Tombstone(id: id, version: version, entityTag: tag, stamp: stamp))
    case .malformed(let bytes, let key):
      return .malformed(MalformedRecord(type: entity.type, key: key, bytes: bytes, reason: "is no record"))
    case .record(let payload):
      // The server itself has the keys, so payloads need not repeat them, as RecordReader would
      // require.
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
