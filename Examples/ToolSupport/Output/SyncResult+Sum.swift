package import CanonicalSync
import SyncAdapters

extension SyncResult {
  /// Adds the result of a later sync. Only the later failures and refusals count.
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
  /// Adds the counts of later edits. Only the later number of pending edits counts.
  fileprivate mutating func add(_ later: PushCounts) {
    accepted += later.accepted
    conflicts += later.conflicts
    refused += later.refused
    postponed += later.postponed
    requests += later.requests
    (pending, isRemoteFull) = (later.pending, later.isRemoteFull)
  }
}
