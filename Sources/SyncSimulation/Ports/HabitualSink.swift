import InMemoryAdapters
import SyncModels
import SyncPorts

/// A sink with unusual behaviours that the port allows.
struct HabitualSink: RemoteRecordSink {
  let base: any RemoteRecordSink
  let remote: InMemoryRemote
  /// Whether outcomes of applied changes have the current remote state, even after later changes.
  let answersAsOfNow: Bool
  /// Whether numbers are stored with another spelling.
  let respells: Bool
  /// Called between a change's effect and the answer.
  let meanwhile: @Sendable (RecordID) -> Void

  var identity: String { remote.identity }
  var keepsUnknownMembers: Bool { remote.keepsUnknownMembers }
  func limits() async throws(SyncError) -> SinkLimits { try await remote.limits() }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let spelled = respells ? changes.map(Self.respelled) : changes
    return answers(try await base.push(spelled, entities: entities), to: changes, entities)
  }

  var appliesGroups: Bool { base.appliesGroups }

  func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let spelled = respells ? changes.map(Self.respelled) : changes
    return answers(try await base.push(atomically: spelled, entities: entities), to: changes, entities)
  }

  private func answers(
    _ outcomes: [PushOutcome], to changes: [OutgoingChange], _ entities: SyncSchema
  ) -> [PushOutcome] {
    guard answersAsOfNow else { return outcomes }
    return zip(changes, outcomes).map { change, outcome in
      if case .moved(let record) = outcome, let entity = entities[record.id.type] {
        meanwhile(record.id)
        if case .upsert(let present)? = remote.present(record.id, of: entity) { return .moved(present) }
        return outcome
      }
      guard case .accepted = outcome, let entity = entities[change.id.type] else { return outcome }
      meanwhile(change.id)
      return remote.present(change.id, of: entity).map { .accepted($0) } ?? outcome
    }
  }

  /// The change with its name as `12.0` instead of `12`: the same number.
  private static func respelled(_ change: OutgoingChange) -> OutgoingChange {
    guard case .upsert(let payload, let schemaVersion) = change.content, var fields = try? FieldMap(payload),
      let name = fields["name"], name.allSatisfy({ (48...57).contains($0) })
    else { return change }
    var change = change
    fields["name"] = (Array(name) + Array(".0".utf8))[...]
    change.content = .upsert(fields.payload, schemaVersion: schemaVersion)
    return change
  }
}
