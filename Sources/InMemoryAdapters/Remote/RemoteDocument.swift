import SyncModels

/// One state of a record at the remote.
struct RemoteDocument: Sendable {
  enum Body: Sendable {
    case record(Payload)
    case poison(Payload, key: String?)
    case deleted
  }

  let key: String
  let body: Body
  var version: Version

  var isDeleted: Bool {
    if case .deleted = body { true } else { false }
  }

  /// How the document is sent.
  ///
  /// - Parameter scan: The number that replaces the change's own where versions count scans.
  func change(for entity: Entity, scan: Int64? = nil) -> RecordChange {
    let id = RecordID(type: entity.type, key: key)
    let version = Version(sequence: scan ?? version.sequence, modifiedAt: version.modifiedAt)
    let tag = String(self.version.sequence)
    switch body {
    case .deleted:
      return .tombstone(Tombstone(id: id, version: version, entityTag: tag))
    case .poison(let bytes, let key):
      return .poison(Poison(type: entity.type, key: key, bytes: bytes, reason: "is no record"))
    case .record(let payload):
      // Keys are the server's own here, so payloads need not repeat them, as RecordReader would demand.
      do {
        let schema = try entity.schemaVersion(of: payload)
        guard let schema else {
          return .poison(
            Poison(type: entity.type, key: key, bytes: payload, reason: "has no readable schema version"))
        }
        return .upsert(
          Record(
            id: id, version: version, entityTag: tag, schemaVersion: schema, payload: payload,
            fields: try entity.fields(of: payload)))
      } catch {
        return .poison(Poison(type: entity.type, key: key, bytes: payload, reason: error.description))
      }
    }
  }
}
