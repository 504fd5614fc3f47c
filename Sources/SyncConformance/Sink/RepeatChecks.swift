import SyncModels
import SyncPorts

/// A change that is sent repeatedly with one idempotency key has one effect.
enum RepeatChecks {
  static func changeSentAgainHasOneEffect(_ bench: SinkBench) async throws {
    let new = bench.upsert("a", 1)
    let base = try await bench.pushAccepted(new)
    try await expectRepeat(of: new, isApplied: base, bench)
    let edit = bench.upsert("a", 2, on: base)
    let later = try await bench.pushAccepted(edit)
    try await expectRepeat(of: edit, isApplied: later, bench)
    try expect(try await bench.value("a"), equals: 2, "A repeated change leaves its record as it is.")
  }

  static func deletionSentAgainHasOneEffect(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    let deletion = bench.deletion("a", on: try await bench.base(of: "a"))
    let gone = try await bench.pushAccepted(deletion)
    try await expectRepeat(of: deletion, isApplied: gone, bench)
    try expect(try await bench.value("a"), equals: nil, "A repeated deletion leaves its record deleted.")
  }

  static func changeSentAgainLeavesALaterOneAlone(_ bench: SinkBench) async throws {
    let changes = [bench.upsert("a", 1), bench.upsert("b", 1)]
    for change in changes { _ = try await bench.pushAccepted(change) }
    try await bench.harness.upsert("a", 5)
    try await bench.harness.delete("b")
    try await bench.harness.upsert("b", 6)
    for change in changes { try await sendAgain(change, bench) }
    let values = [try await bench.value("a"), try await bench.value("b")]
    try expect(values, equals: [5, 6], "A repeated change does not undo later changes.")
  }

  static func creationSentAgainBringsNothingBack(_ bench: SinkBench) async throws {
    let creation = bench.upsert("a", 1)
    _ = try await bench.pushAccepted(creation)
    try await bench.harness.delete("a")
    try await sendAgain(creation, bench)
    try expect(
      try await bench.value("a"), equals: nil, "A repeated creation does not restore a deleted record."
    )
  }

  /// Repeats an applied change, after other clients have overwritten the record.
  private static func sendAgain(_ change: OutgoingChange, _ bench: SinkBench) async throws {
    switch try await bench.push(change) {
    case .accepted, .conflict: break
    case let other:
      throw ConformanceFailure("The answer to a repeated change that was applied is not \(other.name).")
    }
  }

  static func batchSentAgainByAnotherProcessHasOneEffect(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("b", 1)
    let changes = [bench.upsert("a", 1), bench.deletion("b", on: try await bench.base(of: "b"))]
    var bases: [OutboxEntry.Base] = []
    for change in changes { bases.append(try await bench.pushAccepted(change)) }
    let second = try await bench.harness.reopen?()
    for (change, base) in zip(changes, bases) {
      try await expectRepeat(of: change, to: second, isApplied: base, bench)
    }
  }

  /// Repeats an applied change: it is accepted as before, or conflicts with its own result.
  private static func expectRepeat(
    of change: OutgoingChange, to sink: (any RemoteRecordSink)? = nil, isApplied base: OutboxEntry.Base,
    _ bench: SinkBench
  ) async throws {
    let word: RecordChange?
    switch try await bench.push(change, to: sink) {
    case .accepted(let again): word = again
    case .conflict(let current): word = current
    case let other:
      throw ConformanceFailure("The answer to a repeated change that was applied is not \(other.name).")
    }
    switch word {
    case .upsert(let record)?:
      try expect(
        record.version, equals: base.version ?? .unversioned, "A repeated change has no second effect.")
    case .tombstone?, nil:
      try expect(base.record == nil, "A repeated change conflicts with its own result.")
    case .malformed?: throw ConformanceFailure("An accepted outcome is a copy or a tombstone.")
    }
    guard case .upsert(let record)? = try await bench.harness.read(change.id.key) else { return }
    try expect(
      record.version, equals: base.version ?? .unversioned, "A repeated change has no second effect.")
  }
}
