package import SyncModels
package import SyncPorts

/// A source that forwards every call to another one; doubles replace single calls.
package protocol ForwardingSource: RemoteRecordSource {
  /// The source that does the work.
  var base: any RemoteRecordSource { get }
}

extension ForwardingSource {
  package var identity: String { base.identity }
  package var capabilities: SourceCapabilities { base.capabilities }
  package func capabilities(of type: RecordType) -> SourceCapabilities { base.capabilities(of: type) }
  package func query(for type: RecordType) -> String { base.query(for: type) }
  package func account() async throws(SyncError) -> RemoteAccount? { try await base.account() }
  package func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    try await base.page(request)
  }
  package func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await base.lookup(ids, of: entity)
  }
}

/// A sink that forwards every call to another one; doubles replace single calls, changes or outcomes.
package protocol ForwardingSink: RemoteRecordSink {
  /// The sink that does the work.
  var base: any RemoteRecordSink { get }

  /// What is pushed in place of a change.
  func sent(_ change: OutgoingChange) -> OutgoingChange

  /// What is answered in place of the outcomes.
  func answers(
    _ outcomes: [PushOutcome], to changes: [OutgoingChange], _ entities: SyncSchema
  ) -> [PushOutcome]
}

extension ForwardingSink {
  package var identity: String { base.identity }
  package var keepsUnknownMembers: Bool { base.keepsUnknownMembers }
  package var appliesGroups: Bool { base.appliesGroups }
  package func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

  package func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    answers(try await base.push(changes.map(sent), entities: entities), to: changes, entities)
  }

  package func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    answers(try await base.push(atomically: changes.map(sent), entities: entities), to: changes, entities)
  }

  package func sent(_ change: OutgoingChange) -> OutgoingChange { change }

  package func answers(
    _ outcomes: [PushOutcome], to changes: [OutgoingChange], _ entities: SyncSchema
  ) -> [PushOutcome] { outcomes }
}
