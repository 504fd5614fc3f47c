import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters
import SyncAdapters

extension Stage {
  /// The remote has no room for new records.
  ///
  /// The edits wait, the owner is notified, and the app frees storage.
  func quota() async throws(SyncError) -> JSON {
    wait(until: 13)
    let count = remote.records(of: "meters").count + remote.records(of: "readings").count
    remote.recordQuota = count
    for number in 1...3 {
      try await a.rename("garden-\(number)", mac: "AA:BB:CC:DD:F0:0\(number)", to: "Garden \(number)")
    }
    try await a.rename("cellar-1", mac: "AA:BB:CC:DD:EF:01", to: "Main pipe")
    say(
      "A",
      "finds three meters and renames one; the remote takes \(Counted(count, "record, and has it", "records, and has them").grouped)"
    )
    let full = try await sync(a)
    let told = a.events.events.compactMap {
      if case .remoteStorageFull(let pending) = $0 { pending } else { nil }
    }
    let kept = try await a.pending().count
    let renamed = try metersAtRemote()["cellar-1"]?.name
    say(
      "A",
      "learns that the remote is full, and keeps \(Counted(kept, "edit").grouped); the new name has arrived: \(renamed ?? "no")"
    )
    wait(until: 13, 10)
    archive.isAllowed = true
    say("A", "gets its owner's leave to archive old readings")
    try await sync(a)
    archive.isAllowed = false
    remote.recordQuota = nil
    let left = try await a.pending().count
    say(
      "A",
      "has \(Counted(left, "edit").grouped) left; \(Counted(archive.archived, "reading is", "readings are").grouped) in the archive"
    )
    try await settle()
    return [
      "wasFull": .bool(full.pushed.isRemoteFull), "eventsTold": .integer(told.count), "kept": .integer(kept),
      "renamedMeanwhile": renamed.map { .string($0) } ?? .null, "archived": .integer(archive.archived),
      "left": .integer(left),
    ]
  }
}
