package import SyncModels

extension OutboxEntry {
  /// The edit to send: the sent and unanswered one, otherwise the latest.
  var next: Edit { sent ?? edit }

  /// The size of the payload to send, in bytes.
  var sizeToSend: Int {
    switch sent?.content ?? edit.content {
    case .upsert(let payload, _): payload.bytes.count
    case .deletion: 0
    }
  }

  /// The change to send.
  var outgoing: OutgoingChange {
    let next = next
    return OutgoingChange(
      id: id, content: next.content, base: remoteBase, key: idempotencyKey(for: next), stamp: next.stamp)
  }

  /// The remote state that a push expects.
  ///
  /// A copy without a version was bundled with the app: the remote has not yet reported the record.
  private var remoteBase: OutboxEntry.Base {
    base.version == .unversioned ? .none : base
  }

  /// Whether the entry may be sent now.
  func isDue(at now: Timestamp) -> Bool {
    switch state {
    case .waiting: true
    case .postponed(let until): until <= now
    case .refused: false
    }
  }

  /// Whether the entry creates its record at the remote.
  var isNewToTheRemote: Bool {
    remoteBase.record == nil && next.content != .deletion
  }

  /// Returns the records that must be at the remote before the edit is sent.
  package func requiredReferences(of entity: Entity) -> [RecordID] {
    guard case .upsert(let payload, let schemaVersion) = next.content else { return [] }
    // The payload was parsed when the edit was made. On a failure the fields stay empty.
    let fields = (try? entity.fields(of: payload)) ?? []
    return entity.requiredReferences(
      of: Record(
        id: id, version: .unversioned, schemaVersion: schemaVersion, payload: payload, fields: fields))
  }
}
