package import SyncModels

extension OutboxEntry {
  /// What is sent: what was begun to be sent before, until its fate is known; otherwise the edit as it is.
  var next: Edit { sent ?? edit }

  /// How many bytes of payload are sent.
  var sizeToSend: Int {
    switch sent?.content ?? edit.content {
    case .upsert(let payload, _): payload.bytes.count
    case .deletion: 0
    }
  }

  /// The change to send.
  var outgoing: OutgoingChange {
    let next = next
    #if MUTANTS
      if Mutant.nameForEachAttempt.isActive {
        let key = IdempotencyKey("\(idempotencyKey(for: next))/\(attempts)")
        return OutgoingChange(id: id, content: next.content, base: base, key: key, stamp: next.stamp)
      }
    #endif
    return OutgoingChange(
      id: id, content: next.content, base: remoteBase, key: idempotencyKey(for: next), stamp: next.stamp)
  }

  /// What a push takes for granted. A copy without a version came with the app: whatever it says, the remote has not spoken of the record.
  private var remoteBase: OutboxEntry.Base {
    base.version == .unversioned ? .none : base
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
    remoteBase.record == nil && next.content != .deletion
  }

  /// The records that must be at the remote before what is sent.
  package func requiredReferences(of entity: Entity) -> [RecordID] {
    guard case .upsert(let payload, let schemaVersion) = next.content else { return [] }
    // What an edit holds was read when it was made.
    let fields = (try? entity.fields(of: payload)) ?? []
    return entity.requiredReferences(
      of: Record(
        id: id, version: .unversioned, schemaVersion: schemaVersion, payload: payload, fields: fields))
  }
}
