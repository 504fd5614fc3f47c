import InMemoryAdapters
import SyncModels
import SyncPorts

/// A source with a flaw.
struct FlawedSource: ForwardingSource {
  let base: any RemoteRecordSource
  let flaw: PortFlaw

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page: RecordPage
    do throws(SyncError) {
      page = try await base.page(request)
    } catch {
      guard flaw == .refusedListEnds, error.code == .inconsistentData, case .resume = request.position else {
        throw error
      }
      return RecordPage(coverage: .full, changes: [], next: .done(nil))
    }
    switch flaw {
    case .pageWithoutDeletions:
      page.changes.removeAll { if case .tombstone = $0 { true } else { false } }
    case .pageWithoutItsLast where page.changes.count > 1: page.changes.removeLast()
    case .resetUntold:
      if case .reset(.remoteReplaced) = page.next { page.next = .reset(.tokenExpired) }
    case .endTooEarly:
      if case .more = page.next, page.changes.count > 1 { page.next = .done(nil) }
    case .keysWithOldVersions:
      page.present = page.present.map { PresentRecord(id: $0.id, version: .unversioned) }
    default: break
    }
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    flaw == .lookupFindsNothing ? [] : try await base.lookup(ids, of: entity)
  }
}

/// A sink with a flaw.
struct FlawedSink: ForwardingSink {
  let base: any RemoteRecordSink
  let flaw: PortFlaw

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    switch flaw {
    case .sinkTakesNothing:
      return changes.map { .accepted($0.applied(entities[$0.id.type])) }
    case .sinkSendsTwice:
      let outcomes = try await base.push(changes, entities: entities)
      // Repeats the change, on top of its own effect and with another idempotency key.
      let again = zip(changes, outcomes).compactMap { change, outcome in change.again(after: outcome) }
      if !again.isEmpty { _ = try await base.push(again, entities: entities) }
      return outcomes
    case .sinkHidesConflicts:
      return zip(changes, try await base.push(changes, entities: entities)).map { change, outcome in
        if case .conflict(.upsert?) = outcome {
          .accepted(change.applied(entities[change.id.type]))
        } else {
          outcome
        }
      }
    case .sinkTellsOfNothing:
      return try await base.push(changes, entities: entities).map { outcome in
        if case .conflict = outcome { .conflict(nil) } else { outcome }
      }
    default:
      return try await base.push(changes, entities: entities)
    }
  }
}

extension OutgoingChange {
  /// The remote state, as if the change had been applied.
  fileprivate func applied(_ entity: Entity?) -> RecordChange {
    var version = base.version ?? Version(sequence: 0, modifiedAt: stamp.physical)
    version.sequence += 1
    switch content {
    case .deletion: return .tombstone(Tombstone(id: id, version: version))
    case .upsert(let payload, let schemaVersion):
      let fields = (try? entity?.fields(of: payload)) ?? []
      return .upsert(
        Record(id: id, version: version, schemaVersion: schemaVersion, payload: payload, fields: fields))
    }
  }

  /// The change once more, on top of its own effect.
  fileprivate func again(after outcome: PushOutcome) -> OutgoingChange? {
    guard case .accepted(.upsert(let record)) = outcome else { return nil }
    return OutgoingChange(
      id: id, content: content, base: .copy(record), key: IdempotencyKey("\(key)/again"), stamp: stamp)
  }
}
