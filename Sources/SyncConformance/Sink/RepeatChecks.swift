import SyncModels
import SyncPorts

/// What is sent again under one name has happened once.
enum RepeatChecks {
  static func changeSentAgainHasOneEffect(_ bench: SinkBench) async throws {
    let new = bench.upsert("a", 1)
    let base = try await bench.pushAccepted(new)
    try await expectRepeat(of: new, isApplied: base, bench)
    let edit = bench.upsert("a", 2, on: base)
    let later = try await bench.pushAccepted(edit)
    try await expectRepeat(of: edit, isApplied: later, bench)
    try expect(try await bench.value("a"), equals: 2, "A change sent again leaves its record as it made it.")
  }

  static func deletionSentAgainHasOneEffect(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    let deletion = bench.deletion("a", on: try await bench.base(of: "a"))
    let gone = try await bench.pushAccepted(deletion)
    try await expectRepeat(of: deletion, isApplied: gone, bench)
    try expect(try await bench.value("a"), equals: nil, "A deletion sent again leaves its record deleted.")
  }

  static func changeSentAgainLeavesALaterOneAlone(_ bench: SinkBench) async throws {
    let changes = [bench.upsert("a", 1), bench.upsert("b", 1)]
    for change in changes { _ = try await bench.pushAccepted(change) }
    try await bench.harness.upsert("a", 5)
    try await bench.harness.delete("b")
    try await bench.harness.upsert("b", 6)
    for change in changes { try await sendAgain(change, bench) }
    let values = [try await bench.value("a"), try await bench.value("b")]
    try expect(values, equals: [5, 6], "A change sent again does not undo what others did since.")
  }

  static func creationSentAgainBringsNothingBack(_ bench: SinkBench) async throws {
    let creation = bench.upsert("a", 1)
    _ = try await bench.pushAccepted(creation)
    try await bench.harness.delete("a")
    try await sendAgain(creation, bench)
    try expect(
      try await bench.value("a"), equals: nil, "A record that was deleted since is not created a second time."
    )
  }

  /// Sends a change again that was applied, and that others have written over since.
  private static func sendAgain(_ change: OutgoingChange, _ bench: SinkBench) async throws {
    switch try await bench.push(change) {
    case .accepted, .conflict: break
    case let other: throw ConformanceFailure("What was applied is not \(other.name) when it comes again.")
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

  /// Sends a change again: it was applied, so it is accepted as it was, or meets what it made itself.
  private static func expectRepeat(
    of change: OutgoingChange, to sink: (any RemoteRecordSink)? = nil, isApplied base: OutboxEntry.Base,
    _ bench: SinkBench
  ) async throws {
    let word: RecordChange?
    switch try await bench.push(change, to: sink) {
    case .accepted(let again): word = again
    case .conflict(let current): word = current
    case let other: throw ConformanceFailure("What was applied is not \(other.name) when it comes again.")
    }
    switch word {
    case .upsert(let record)?:
      try expect(
        record.version, equals: base.version ?? .unversioned, "A change sent again has no second effect.")
    case .tombstone?, nil:
      try expect(base.record == nil, "A change sent again meets what it made.")
    case .malformed?: throw ConformanceFailure("What was accepted is a record or its deletion.")
    }
    guard case .upsert(let record)? = try await bench.harness.read(change.id.key) else { return }
    try expect(
      record.version, equals: base.version ?? .unversioned, "A change sent again has no second effect.")
  }
}
