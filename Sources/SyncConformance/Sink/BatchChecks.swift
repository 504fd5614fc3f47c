import SyncModels
import SyncPorts

/// Each change of a batch has its own outcome.
enum BatchChecks {
  static func everyChangeHasItsOutcome(_ bench: SinkBench) async throws {
    for key in ["edited", "stale", "deleted"] { try await bench.harness.upsert(key, 1) }
    let edited = try await bench.base(of: "edited")
    let stale = try await bench.base(of: "stale")
    let deleted = try await bench.base(of: "deleted")
    try await bench.harness.upsert("stale", 5)
    let changes = [
      bench.upsert("stale", 2, on: stale), bench.upsert("new", 3), bench.deletion("deleted", on: deleted),
      bench.upsert("edited", 4, on: edited), bench.upsert("é/1", 6),
    ]
    guard try await bench.harness.sink.limits().maximumRecords >= changes.count else {
      throw Inapplicable(reason: "The sink takes fewer changes at once.")
    }
    let outcomes = try await bench.push(changes)
    try bench.expectConflict(outcomes[0], with: 5, "A conflict has its change's index.")
    for (change, outcome) in zip(changes, outcomes).dropFirst() {
      let base = try bench.base(of: outcome, of: change.id)
      try expect(
        (base.record == nil) == (change.content == .deletion), "An outcome matches its change.")
    }
    var values: [Int64?] = []
    for change in changes { values.append(try await bench.value(change.id.key)) }
    try expect(values, equals: [5, 3, nil, 4, 6], "The other changes are applied despite one conflict.")
  }

  static func emptyPushHasNoOutcomes(_ bench: SinkBench) async throws {
    _ = try await bench.push([])
  }

  static func tooMuchIsRefusedWhole(_ bench: SinkBench) async throws {
    let limits = try await bench.harness.sink.limits()
    try expect(
      limits.maximumRecords >= 1 && limits.maximumBytes >= 1, "A sink takes at least one change at once.")
    guard limits.maximumRecords < 5000 else {
      throw Inapplicable(reason: "The sink takes more at once than is sensible to try.")
    }
    let changes = (0...limits.maximumRecords).map { bench.upsert("n\($0)", $0) }
    let wasTaken = try await isTaken(changes, bench)
    for change in [changes.first, changes.last].compactMap(\.self) {
      try expect(
        try await bench.value(change.id.key) != nil, equals: wasTaken,
        "A batch that is too large is refused or applied as a whole.")
    }
    for change in changes.prefix(wasTaken ? 0 : limits.maximumRecords) {
      try expect(
        try await bench.value(change.id.key), equals: nil, "A batch that is too large has no effect.")
    }
    let fitting = try await bench.push(Array(changes.prefix(limits.maximumRecords)))
    for (change, outcome) in zip(changes, fitting) where !wasTaken {
      _ = try bench.base(of: outcome, of: change.id)
    }
  }

  /// Pushes more than the limits: every change is accepted, or the batch is refused.
  private static func isTaken(_ changes: [OutgoingChange], _ bench: SinkBench) async throws -> Bool {
    do {
      let outcomes = try await bench.push(changes)
      for (change, outcome) in zip(changes, outcomes) { _ = try bench.base(of: outcome, of: change.id) }
      return true
    } catch let error as SyncError {
      try expect(error.code, equals: .batchTooLarge, "More than a sink takes is too large a batch.")
      return false
    }
  }

  static func bytesUpToTheLimitAreTaken(_ bench: SinkBench) async throws {
    let limits = try await bench.harness.sink.limits()
    guard limits.maximumRecords > 1, (100..<10_000_000).contains(limits.maximumBytes) else {
      throw Inapplicable(reason: "The sink takes more or fewer bytes at once than is sensible to try.")
    }
    let half = limits.maximumBytes / 2
    let rest = limits.maximumBytes - half
    let fitting = [bench.upsert("a", 1, bytes: half), bench.upsert("b", 2, bytes: rest)]
    let sentence = "A batch of as many bytes as a sink takes is applied."
    try expect(try await isTaken(fitting, bench), sentence)
    try expect([try await bench.value("a"), try await bench.value("b")], equals: [1, 2], sentence)
    let tooMany = [bench.upsert("c", 3, bytes: half + 1), bench.upsert("d", 4, bytes: half + 1)]
    let wasTaken = try await isTaken(tooMany, bench)
    try expect(
      [try await bench.value("c"), try await bench.value("d")], equals: wasTaken ? [3, 4] : [nil, nil],
      "A batch of too many bytes is refused or applied as a whole.")
  }
}
