package import CanonicalSync

extension SyncResult {
  /// Adds what a later sync brought; of failures and refusals, only how things stand counts, not how they stood.
  package mutating func add(_ later: SyncResult) {
    for (type, counts) in later.entities {
      if let index = entities.firstIndex(where: { $0.type == type }) {
        entities[index].counts += counts
      } else {
        entities.append((type, counts))
      }
    }
    pushed.add(later.pushed)
    failures = later.failures
    refusedSweeps = later.refusedSweeps
    duration += later.duration
  }
}

extension PushCounts {
  /// Adds what became of later edits; how many wait is the later word.
  fileprivate mutating func add(_ later: PushCounts) {
    accepted += later.accepted
    conflicts += later.conflicts
    refused += later.refused
    postponed += later.postponed
    requests += later.requests
    (pending, isRemoteFull) = (later.pending, later.isRemoteFull)
  }
}
