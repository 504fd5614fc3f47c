import SyncModels
import SyncPorts

/// An atomic group is applied whole or not at all.
enum GroupChecks {
  static func groupIsApplied(_ bench: SinkBench) async throws {
    let changes = try await changes(bench)
    let outcomes = try await bench.push(group: changes)
    for (change, outcome) in zip(changes, outcomes) { _ = try bench.base(of: outcome, of: change.id) }
    try await expect(bench, [2, nil, 3], "All changes of a group are applied.")
  }

  static func groupWithAConflictHasNoEffect(_ bench: SinkBench) async throws {
    let changes = try await changes(bench)
    try await bench.harness.upsert("deleted", 5)
    let outcomes = try await bench.push(group: changes)
    try bench.expectConflict(outcomes[1], with: 5, "A change of a group meets another state.")
    for outcome in [outcomes[0], outcomes[2]] {
      try SyncConformance.expect(
        outcome, equals: .notApplied, "The other changes of a group are not applied either.")
    }
    try await expect(bench, [1, 5, nil], "A group is not applied in part.")
  }

  static func groupSentAgainHasOneEffect(_ bench: SinkBench) async throws {
    var changes = try await changes(bench)
    _ = try await bench.push(group: changes)
    for place in changes.indices { changes[place].mayHaveArrived = true }
    for outcome in try await bench.push(group: changes) {
      switch outcome {
      case .accepted, .conflict: break
      case let other:
        throw ConformanceFailure("The answer to a group that was applied before is not \(other.name).")
      }
    }
    try await expect(bench, [2, nil, 3], "A group that is sent again has one effect.")
  }

  /// An edit, a deletion and a new record.
  private static func changes(_ bench: SinkBench) async throws -> [OutgoingChange] {
    for key in ["edited", "deleted"] { try await bench.harness.upsert(key, 1) }
    return [
      bench.upsert("edited", 2, on: try await bench.base(of: "edited")),
      bench.deletion("deleted", on: try await bench.base(of: "deleted")),
      bench.upsert("new", 3),
    ]
  }

  private static func expect(
    _ bench: SinkBench, _ values: [Int64?], _ sentence: String
  ) async throws {
    var found: [Int64?] = []
    for key in ["edited", "deleted", "new"] { found.append(try await bench.value(key)) }
    try SyncConformance.expect(found, equals: values, sentence)
  }
}
