import InMemoryAdapters
import SyncModels
import SyncPorts

/// A sink with unusual behaviours that the port allows.
struct HabitualSink: ForwardingSink {
  let base: any RemoteRecordSink
  let remote: InMemoryRemote
  /// Whether outcomes of applied changes have the current remote state, even after later changes.
  let answersAsOfNow: Bool
  /// Whether numbers are stored with another spelling.
  let respells: Bool
  /// Called between a change's effect and the answer.
  let meanwhile: @Sendable (RecordID) -> Void

  func answers(
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
  func sent(_ change: OutgoingChange) -> OutgoingChange {
    guard respells, case .upsert(let payload, let schemaVersion) = change.content,
      var fields = try? FieldMap(payload),
      let name = fields["name"], name.allSatisfy({ (48...57).contains($0) })
    else { return change }
    var change = change
    fields["name"] = (Array(name) + Array(".0".utf8))[...]
    change.content = .upsert(fields.payload, schemaVersion: schemaVersion)
    return change
  }
}

/// The sink of a remote that writes a member of leagues itself, the same at each push.
struct AssigningSink: ForwardingSink {
  let base: any RemoteRecordSink
  let field: FieldName

  var appliesGroups: Bool { false }

  func sent(_ change: OutgoingChange) -> OutgoingChange {
    guard change.id.type == "leagues", case .upsert(let payload, let schemaVersion) = change.content,
      var fields = try? FieldMap(payload)
    else { return change }
    var change = change
    fields[field] = Array("9".utf8)[...]
    change.content = .upsert(fields.payload, schemaVersion: schemaVersion)
    return change
  }
}
