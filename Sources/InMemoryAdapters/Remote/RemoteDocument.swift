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
        let schema = try payload.schemaVersion(for: entity)
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

extension Payload {
  /// The schema that the payload says it was written with: the first one if it says nothing, `nil` if it says nonsense.
  fileprivate func schemaVersion(for entity: Entity) throws(JSONError) -> Int? {
    guard let field = entity.schemaVersionField else { return 1 }
    switch try values(of: [field]).first {
    case .null, nil: return 1
    case .integer(let number): return number >= 1 ? Int(exactly: number) : nil
    case .double(let number): return number >= 1 ? Int(exactly: number) : nil
    default: return nil
    }
  }
}
