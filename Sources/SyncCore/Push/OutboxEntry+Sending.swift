import SyncModels

extension OutboxEntry {
  /// What is sent: what was begun to be sent before, until its fate is known; otherwise the edit as it is.
  var next: Edit { sent ?? edit }

  /// The change to send.
  var outgoing: OutgoingChange {
    OutgoingChange(
      id: id, content: next.content, base: base, key: idempotencyKey(for: next), stamp: next.stamp)
  }

  /// Whether it may be sent now.
  func isDue(at now: Timestamp) -> Bool {
    switch state {
    case .waiting: true
    case .postponed(let until): until <= now
    case .refused: false
    }
  }

  /// Whether it creates its record at the remote.
  var isNewToTheRemote: Bool {
    base.record == nil && next.content != .deletion
  }

  /// The records that must be at the remote before what is sent.
  func requiredReferences(of entity: Entity) -> [RecordID] {
    guard case .upsert(let payload, let schemaVersion) = next.content else { return [] }
    // What an edit holds was read when it was made.
    let fields = (try? entity.fields(of: payload)) ?? []
    return entity.requiredReferences(
      of: Record(
        id: id, version: .unversioned, schemaVersion: schemaVersion, payload: payload, fields: fields))
  }
}
