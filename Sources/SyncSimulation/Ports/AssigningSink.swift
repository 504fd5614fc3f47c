import SyncModels
import SyncPorts

/// The sink of a remote that writes a member of leagues itself, the same at each push.
struct AssigningSink: RemoteRecordSink {
  let base: any RemoteRecordSink
  let field: FieldName

  var identity: String { base.identity }
  var keepsUnknownMembers: Bool { base.keepsUnknownMembers }
  func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    try await base.push(changes.map(assigned), entities: entities)
  }

  private func assigned(_ change: OutgoingChange) -> OutgoingChange {
    guard change.id.type == "leagues", case .upsert(let payload, let schemaVersion) = change.content,
      var fields = try? FieldMap(payload)
    else { return change }
    var change = change
    fields[field] = Array("9".utf8)[...]
    change.content = .upsert(fields.payload, schemaVersion: schemaVersion)
    return change
  }
}
