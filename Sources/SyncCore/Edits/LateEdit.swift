import SyncModels
import SyncPorts

/// The outcome of an edit whose record has changed since the app read it.
struct LateEdit {
  /// The content to write.
  var content: Edit.Content
  /// What to tell observers.
  var events: [SyncEvent] = []
}

extension EditWriter {
  /// Resolves the conflict between an edit and the record that is shown by now, and logs it.
  ///
  /// The type's policy decides, as in a conflict with the remote: both changed the same members.
  ///
  /// - Parameters:
  ///   - content: The shown record with the app's changes, or for a deleted one the whole value.
  ///   - origin: The payload that the app read.
  func meeting(
    _ content: Edit.Content, of id: RecordID, _ entity: Entity, readAs origin: Payload, shown: Record?,
    _ options: EditOptions
  ) throws(SyncError) -> LateEdit {
    let pending = try transaction.outbox(for: [id]).first
    let base = if let pending { pending.base } else { try self.base(of: id, shown: shown) }
    // The edit's stamp is known once it is written. A copy of the writer tells it.
    var preview = self
    let edit = preview.entry(for: content, of: id, entity, on: base, after: pending).edit
    let state: RemoteState
    if var record = shown {
      record.fields = []
      state = .copy(record)
    } else {
      state = .deletion(Tombstone(id: id, version: base.version ?? .unversioned))
    }
    let stamp =
      pending?.lastWrite
      ?? StampTrust(now: now, bound: options.maximumClockSkew, known: nil).stamp(of: state, entity).trusted
    let decision = PolicyDecision(
      by: options.policy(for: id.type), entity, id, base: origin, local: edit, lastWrite: edit.stamp, state,
      remoteStamp: stamp, at: now)
    var (late, conflict) = (LateEdit(content: content), decision.conflict)
    switch decision.resolution {
    case .local: break
    case .remote:
      late.content = shown.map { .upsert($0.payload, schemaVersion: $0.schemaVersion) } ?? .deletion
    case .merged(let payload, _):
      let version = max(content.schemaVersion ?? 1, shown?.schemaVersion ?? 1)
      late.content = .upsert(payload, schemaVersion: version)
      if state.isSame(as: late.content) { conflict.winner = .remote }
    }
    if let flaw = decision.flaw { late.events.append(.policyFailed(id, reason: flaw)) }
    // Two edits that lead to the same record have nothing to tell.
    if state.isSame(as: content), state.isSame(as: late.content) { return late }
    try transaction.log([conflict])
    late.events.append(.conflict(conflict, isSignificant: options.isSignificant(conflict)))
    return late
  }
}
