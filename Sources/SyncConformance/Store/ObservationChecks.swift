import SyncModels
import SyncPorts

/// Positions of writes, and the records that changed after them.
enum ObservationChecks {
  private static func changes(
    _ bench: StoreBench, after position: StorePosition?
  ) async throws(SyncError) -> CommittedChanges {
    try await bench.read { snapshot throws(SyncError) in try snapshot.changes(after: position) }
  }

  static func changesAreObserved(_ bench: StoreBench) async throws {
    try await bench.put(
      StoreBench.copy("games", "old"), StoreBench.copy("teams", "gone"), StoreBench.copy("teams", "stays"))
    let start = try await changes(bench, after: nil)
    try expect(start.scope, equals: .records([]), "Without a position there is only the current one.")
    let same = try await changes(bench, after: start.position)
    try expect(same, equals: start, "After the current position nothing changed.")
    try await bench.put(StoreBench.copy("games", "new"))
    let (old, new) = (
      try StoreBench.copy("games", "old", #"{"v":2}"#, version: 2),
      try StoreBench.copy("games", "new", #"{"v":2}"#, version: 2)
    )
    try await bench.write { transaction throws(SyncError) in
      try transaction.put([old])
      try transaction.put([new])
      try transaction.delete([StoreBench.tombstone("teams", "gone")])
    }
    let found = try await changes(bench, after: start.position)
    try expect(
      found.scope,
      equals: .records([StoreBench.game("new"), StoreBench.game("old"), StoreBench.team("gone")]),
      "Records that were put or deleted have changed, each once and by id.")
    try expect(start.position < found.position, "Positions rise.")
    let parked = try StoreBench.copy("games", "parked")
    try await bench.withhold(StoreBench.entry(.record(parked.id), .parked, .upsert(parked)))
    try await bench.write { transaction throws(SyncError) in
      try transaction.setValue([1], forKey: "k")
      try transaction.mark([StoreBench.game("new")])
      try transaction.queue([StoreBench.pending(StoreBench.game("new"), at: StoreBench.stamp(1))])
    }
    let unseen = try await changes(bench, after: found.position)
    try expect(unseen.scope, equals: .records([]), "Invisible writes do not notify observers.")
    try await bench.write { transaction throws(SyncError) in
      try transaction.apply { $0.annotated = [StoreBench.game("old"), StoreBench.team("never")] }
    }
    let annotated = try await changes(bench, after: unseen.position)
    try expect(
      annotated.scope, equals: .records([StoreBench.game("old"), StoreBench.team("never")]),
      "Annotated records have changed, whether or not they are live.")
    let absent = [StoreBench.team("gone"), StoreBench.team("never")]
    try await bench.delete(
      StoreBench.tombstone("teams", "gone", version: 10), StoreBench.tombstone("teams", "never"))
    let deleted = try await changes(bench, after: annotated.position)
    guard case .records(let ids) = deleted.scope else {
      throw ConformanceFailure("Deleting what is not live leads to no reload.")
    }
    try expect(
      Set(ids).isSubset(of: absent), "Deleting what is not live names these records at most.")
    try await expect(.inconsistentData, "The write throws the body's error.") { () throws(SyncError) in
      try await bench.write { transaction throws(SyncError) in
        try transaction.put([parked])
        throw SyncError(.inconsistentData, during: "checking")
      }
    }
    let rolledBack = try await changes(bench, after: deleted.position)
    try expect(rolledBack.scope, equals: .records([]), "A body that throws does not notify observers.")
  }

  static func changesOfOtherHandlesAreObserved(_ bench: StoreBench) async throws {
    let other = try await bench.another()
    let start = try await changes(other, after: nil).position
    try await bench.put(StoreBench.copy("games", "a"), StoreBench.copy("games", "c"))
    let first = try await changes(other, after: start)
    try expect(
      first.scope, equals: .records([StoreBench.game("a"), StoreBench.game("c")]),
      "A commit is observed through another handle.")
    try await other.put(StoreBench.copy("games", "b"))
    try await bench.delete(StoreBench.tombstone("games", "c"))
    for handle in [bench, other] {
      let found = try await changes(handle, after: first.position)
      try expect(
        found.scope, equals: .records([StoreBench.game("b"), StoreBench.game("c")]),
        "A position of one handle is good for another one.")
    }
  }

  static func manyChangesAreReloaded(_ bench: StoreBench) async throws {
    let start = try await changes(bench, after: nil).position
    try await bench.put((0..<5000).map { try StoreBench.copy("games", "g\($0)") })
    let found = try await changes(bench, after: start)
    switch found.scope {
    case .everything: break
    case .records(let ids):
      try expect(ids.count, equals: 5000, "A store names all records that changed, or none.")
    }
    try await bench.put(StoreBench.copy("games", "one"))
    let rest = try await changes(bench, after: found.position)
    try expect(
      rest.scope, equals: .records([StoreBench.game("one")]),
      "After a reload, single changes are named again.")
  }

  static func oldPositionsAreReloaded(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g")
    try await bench.put(copy)
    let start = try await changes(bench, after: nil).position
    for _ in 0..<1300 { try await bench.put(copy) }
    let (found, future) = (
      try await changes(bench, after: start),
      try await changes(bench, after: StorePosition(start.number + 1_000_000))
    )
    switch found.scope {
    case .everything: break
    case .records(let ids):
      try expect(ids, equals: [copy.id], "A store keeps a position's changes, or asks to reload.")
    }
    try expect(
      future.scope, equals: .everything, "An unknown position leads to a reload.")
    try expect(future.position, equals: found.position, "A reload leads to the current position.")
  }
}
