import InMemoryAdapters
import SyncModels
import SyncPorts

/// The sink of a remote that gives new records keys of its own, which are noted.
struct KeyedSink: RemoteRecordSink {
  let base: any RemoteRecordSink
  /// Called with a change and the id of the record that it has made, before the answer can be lost.
  let note: @Sendable (_ change: OutgoingChange, _ given: RecordID) -> Void

  var identity: String { base.identity }
  var keepsUnknownMembers: Bool { base.keepsUnknownMembers }
  var appliesGroups: Bool { base.appliesGroups }
  func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    noted(try await base.push(changes, entities: entities), of: changes)
  }

  func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    noted(try await base.push(atomically: changes, entities: entities), of: changes)
  }

  private func noted(_ outcomes: [PushOutcome], of changes: [OutgoingChange]) -> [PushOutcome] {
    for case (let change, .moved(let record)) in zip(changes, outcomes) { note(change, record.id) }
    return outcomes
  }
}
