import SyncModels
import SyncPorts

/// Looks up records that a listing of a moving collection lacked.
struct Lookup {
  let entity: Entity
  let session: SyncSession

  /// The records of a lookup, and those that the remote still has.
  struct Answer: Sendable {
    var asked: [RecordID] = []
    var present: [RecordChange] = []
    var requests = 0
  }

  /// Looks up the next portion of unmarked records; `nil` after a request to stop.
  ///
  /// - Throws: The remote's failure, once the budget of attempts is used up.
  func ask(after key: String?) async throws(SyncError) -> Answer? {
    let (type, environment) = (entity.type, session.environment)
    let (ids, epoch) = try await session.read { (snapshot) throws(SyncError) in
      let ids = try snapshot.portion(unmarked: type, after: key).map(\.id)
      return (ids, ids.isEmpty ? 0 : try snapshot.checkpoint(for: type)?.epoch ?? 0)
    }
    guard !ids.isEmpty else { return Answer() }
    var answer = Answer(asked: ids)
    while true {
      answer.requests += 1
      let result = await environment.request { () throws(SyncError) in
        try await environment.source.lookup(ids, of: entity)
      }
      if session.isStopped { return nil }
      switch result {
      case .success(let changes):
        // A malformed record exists at the remote as well.
        answer.present = changes.filter { if case .tombstone = $0 { false } else { true } }
          .map { environment.upgrades.arriving($0, entity, environment.emit).stamped(epoch: epoch) }
          .filter { environment.filters.wants($0, entity) }
        return answer
      case .failure(let error):
        guard try await environment.waitToRetry(after: error, failures: answer.requests, of: type) else {
          return nil
        }
      }
    }
  }
}
