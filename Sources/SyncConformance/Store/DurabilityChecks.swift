import SyncModels
import SyncPorts

/// The data that another handle to the same store reads.
enum DurabilityChecks {
  static func reopenedStoreHoldsWhatWasCommitted(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g", #"{"v":1,"home":"t","code":"c"}"#, version: 4, tag: "x")
    let entry = StoreBench.entry(.record(StoreBench.game("aside")), waitsFor: [StoreBench.team("t")])
    try await bench.put(copy)
    let pending = StoreBench.pending(
      copy.id, at: StoreBench.stamp(5), base: .deleted(StoreBench.tombstone("games", "g")))
    try await bench.delete(StoreBench.tombstone("games", "gone"))
    try await bench.queue(pending)
    try await bench.log(StoreBench.conflict(copy.id, settledAt: 5))
    try await bench.withhold(entry)
    try await bench.write { transaction throws(SyncError) in
      try transaction.mark([copy.id])
      try transaction.setValue([1, 2], forKey: "k")
    }
    let lease = try await bench.store.acquireLease(for: .seconds(60))
    try await bench.store.release(lease)

    await bench.harness.close?(bench.store)
    let reopened = try await bench.another()
    try expect(
      try await reopened.records(Query("games", where: .equal("v", 1))), equals: [copy], "Records are there.")
    try expect(try await reopened.state(copy.id)?.isMarked, equals: true, "Marks are there.")
    try expect(
      try await reopened.state(StoreBench.game("gone"))?.isDeleted, equals: true, "Deletions are there.")
    try expect(try await reopened.entries(), equals: [entry], "The withheld change is stored.")
    let value = try await reopened.read { snapshot throws(SyncError) in try snapshot.value(forKey: "k") }
    try expect(value, equals: [1, 2], "Values are there.")
    try expect(try await reopened.outbox(), equals: [pending], "Local edits are there.")
    let conflicts = try await reopened.conflicts()
    try expect(conflicts.map(\.id), equals: [copy.id], "The log of conflicts is there.")
    try await reopened.log(StoreBench.conflict(copy.id, settledAt: 6))
    let newest = try await reopened.conflicts().first?.number ?? 0
    try expect(conflicts.allSatisfy { $0.number < newest }, "Conflicts go on being numbered.")
    let key = StoreBench.games.naturalKey(of: copy) ?? ""
    let namesakes = try await reopened.read { snapshot throws(SyncError) in
      try snapshot.records(ofType: "games", withNaturalKeys: [key])
    }
    try expect(namesakes, equals: [[copy]], "Natural keys are there.")
    let next = try await reopened.store.acquireLease(for: .seconds(60))
    try expect(next.fence > lease.fence, "Fences go on rising.")
  }

  static func handlesSeeEachOthersCommits(_ bench: StoreBench) async throws {
    let other = try await bench.another()
    let first = try StoreBench.copy("games", "a")
    let second = try StoreBench.copy("games", "b")
    try await bench.put(first)
    try expect(
      try await other.records(Query("games")), equals: [first], "A commit is seen by the other handle.")
    try await other.put(second)
    try expect(
      try await bench.records(Query("games")), equals: [first, second],
      "A commit of the other handle is seen.")
    func absent() async throws -> [RecordID] {
      try await bench.write { transaction throws(SyncError) in try transaction.absent(among: [first.id]) }
    }
    try expect(try await absent(), equals: [], "An existing record is live.")
    try await other.delete(StoreBench.tombstone("games", "a", version: 20))
    try expect(try await absent(), equals: [first.id], "A record deleted by another handle is not live.")
    try await other.put(StoreBench.copy("games", "a", version: 30))
    try expect(try await absent(), equals: [], "A record written by another handle is live.")
  }
}
