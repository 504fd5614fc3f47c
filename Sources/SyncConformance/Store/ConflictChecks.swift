import SyncModels
import SyncPorts

/// The log of settled conflicts.
enum ConflictChecks {
  static func conflictsComeBackWhole(_ bench: StoreBench) async throws {
    let id = StoreBench.game("e\u{301}")
    var copy = try StoreBench.copy("games", id.key, #"{"home":"t"}"#, version: 8, tag: "é", schema: 2)
    let withFields = copy
    copy.fields = []
    let payload = Payload(Array(#"{"v": 1.50}"#.utf8))
    let local = [
      Edit(.deletion, stamp: StoreBench.stamp(.min / 1_000_000, .max, by: "é \u{0}")),
      Edit(.upsert(payload, schemaVersion: 7), stamp: StoreBench.stamp(5)),
    ]
    let remote: [(given: RecordChange, kept: RecordChange)] = [
      (.upsert(withFields), .upsert(copy)),
      (
        .tombstone(Tombstone(id: id, version: .unversioned)),
        .tombstone(Tombstone(id: id, version: .unversioned))
      ),
      (
        .tombstone(StoreBench.tombstone("games", id.key, tag: "x")),
        .tombstone(StoreBench.tombstone("games", id.key, tag: "x"))
      ),
    ]
    var wanted: [Conflict] = []
    for (place, winner) in [Conflict.Winner.local, .remote, .merged].enumerated() {
      for local in local {
        var conflict = Conflict(
          number: 77, id: id, settledAt: Timestamp(microseconds: place == 0 ? .min : .max), local: local,
          remote: remote[place].given, remoteStamp: StoreBench.stamp(3, 4, by: ""),
          base: [nil, payload, Payload([])][place], winner: winner, reason: "because \u{0} é")
        try await bench.log(conflict)
        conflict.remote = remote[place].kept
        wanted.append(conflict)
      }
    }
    var found = Array(try await bench.conflicts().reversed())
    for place in found.indices {
      try expect(
        found[place].number != 77, "The store assigns the number of a conflict, whatever number it has.")
      found[place].number = 77
    }
    try expect(found, equals: wanted, "A conflict comes back as it was, the remote's copy without fields.")
  }

  static func conflictsAreNumberedNewestFirst(_ bench: StoreBench) async throws {
    try expect(try await bench.conflicts(), equals: [], "A new store's log is empty.")
    let (a, b, t) = (StoreBench.game("a"), StoreBench.game("b"), StoreBench.team("t"))
    try await bench.log(
      StoreBench.conflict(b, settledAt: 5, reason: "1"), StoreBench.conflict(t, settledAt: 1, reason: "2"),
      StoreBench.conflict(b, settledAt: 9, reason: "3"))
    try await bench.log(StoreBench.conflict(a, settledAt: 3, reason: "4"))
    let found = try await bench.conflicts()
    try expect(found.map(\.reason), equals: ["4", "3", "2", "1"], "Conflicts come newest first.")
    let numbers = found.map(\.number)
    try expect(
      zip(numbers, numbers.dropFirst()).allSatisfy { $0 > $1 }, "They are numbered in the order they came.")
    try expect(
      try await bench.conflicts("games").map(\.reason), equals: ["4", "3", "1"], "Those of one type come.")
    try expect(try await bench.conflicts("venues"), equals: [], "A type may have none.")
    for (place, conflict) in found.enumerated() {
      let rest = found[(place + 1)...]
      try expect(
        try await bench.conflicts(before: conflict.number, limit: 2), equals: Array(rest.prefix(2)),
        "A portion begins before the number given and holds no more than its limit.")
      try expect(
        try await bench.conflicts("games", before: conflict.number, limit: 1),
        equals: Array(rest.filter { $0.id.type == "games" }.prefix(1)), "A portion is of the type asked for.")
    }
    try expect(try await bench.conflicts(limit: 0), equals: [], "A portion of none is empty.")
  }

  static func oldConflictsAreForgotten(_ bench: StoreBench) async throws {
    let (g, t) = (StoreBench.game("g"), StoreBench.team("t"))
    try await bench.log(
      StoreBench.conflict(g, settledAt: 5, reason: "1"), StoreBench.conflict(t, settledAt: 4, reason: "2"),
      StoreBench.conflict(g, settledAt: 6, reason: "3"), StoreBench.conflict(g, settledAt: 3, reason: "4"))
    let newest = try await bench.conflicts().first?.number ?? 0
    try await bench.write { transaction throws(SyncError) in
      try transaction.removeConflicts(settledBefore: Timestamp(milliseconds: 5))
    }
    try expect(
      try await bench.conflicts().map(\.reason), equals: ["3", "1"],
      "Conflicts settled before the instant are gone, the others stay.")
    let rest = try await bench.conflicts()
    try await bench.write { transaction throws(SyncError) in
      try transaction.removeConflicts([newest + 1] + rest.suffix(1).map(\.number))
    }
    try expect(
      try await bench.conflicts().map(\.reason), equals: ["3"],
      "A conflict is removed by its number, and an absent number is ignored.")
    try await bench.write { transaction throws(SyncError) in
      try transaction.removeConflicts(settledBefore: Timestamp(microseconds: .max))
    }
    try await bench.log(StoreBench.conflict(g, settledAt: 1))
    let numbers = try await bench.conflicts().map(\.number)
    try expect(numbers.count, equals: 1, "All may be forgotten.")
    try expect(numbers.allSatisfy { $0 > newest }, "A number is not given a second time.")
  }
}
