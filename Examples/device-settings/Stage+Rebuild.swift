import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters
import SyncAdapters

extension Stage {
  /// The rebuild of version 2 keeps one copy of each meter.
  ///
  /// The remote receives the deletions of the losers and no others.
  func rebuild() async throws(SyncError) -> JSON {
    wait(until: 8)
    let before = try await a.meters().count
    say("A", "shows \(Counted(before, "meter").grouped), and each of them ten times")
    let would = try await a.engine.rebuildDuplicates(of: Meter.recordType, version: 2, dryRun: true)
    say("A", "tries a rebuild dry: it would delete \(would.counts.losers.grouped)")
    let report = try await a.engine.rebuildDuplicates(of: Meter.recordType, version: 2)
    let after = try await a.meters().count
    say(
      "A",
      "rebuilds, and shows \(after.grouped); \(Counted(report.counts.repointed, "reading names", "readings name").grouped) the copy that was kept now"
    )
    try await sync(a)
    let deletes = deletionsAtRemote
    try await sync(b)
    wait(until: 8, 5)
    try await a.engine.rebuildDuplicates(of: Meter.recordType, version: 2)
    try await b.engine.rebuildDuplicates(of: Meter.recordType, version: 2)
    say("A", "rebuilds a second time, and so does B")
    try await settle()
    let onB = try await b.meters().count
    let dangling = try await danglingReadings()
    return [
      "recordsBefore": .integer(before), "recordsAfter": .integer(after), "recordsOnB": .integer(onB),
      "recordsAtRemote": .integer(try metersAtRemote().count), "deletesAtRemote": .integer(deletes),
      "deletesOfSecondRun": .integer(deletionsAtRemote - deletes), "danglingReadings": .integer(dangling),
    ]
  }

  /// The number of the remote's readings that refer to a missing meter.
  private func danglingReadings() async throws(SyncError) -> Int {
    let meters = try metersAtRemote()
    return remote.records(of: "readings").count { _, payload in
      guard case .string(let key)? = try? payload.values(of: ["meter"]).first else { return true }
      return meters[key] == nil
    }
  }
}
