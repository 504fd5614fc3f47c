import SyncModels
import SyncPorts

/// A sink with its test data, and short forms for the checks.
struct SinkBench: Sendable {
  let harness: SinkHarness
  let schema: SyncSchema

  init(harness: SinkHarness) throws(SyncError) {
    self.harness = harness
    schema = try SyncSchema(SinkHarness.entity)
  }

  /// An upsert as the engine sends it, named by record, value and base.
  func upsert(_ key: String, _ value: Int, on base: OutboxEntry.Base = .none) -> OutgoingChange {
    change(
      key, .upsert(Payload(Array(#"{"value":\#(value)}"#.utf8)), schemaVersion: 1), on: base, edit: value)
  }

  /// An upsert of a payload with this many bytes, in an undeclared member.
  func upsert(_ key: String, _ value: Int, bytes: Int) -> OutgoingChange {
    let (start, end) = (#"{"value":\#(value),"text":""#, #""}"#)
    let text = String(repeating: "x", count: max(0, bytes - start.utf8.count - end.utf8.count))
    return change(
      key, .upsert(Payload(Array((start + text + end).utf8)), schemaVersion: 1), on: .none, edit: value)
  }

  /// A deletion as the engine sends it.
  func deletion(_ key: String, on base: OutboxEntry.Base) -> OutgoingChange {
    change(key, .deletion, on: base, edit: 0)
  }

  private func change(
    _ key: String, _ content: Edit.Content, on base: OutboxEntry.Base, edit number: Int
  ) -> OutgoingChange {
    // As the engine's, no two edits have one stamp, and so no two records one idempotency key: a
    // remote may remember keys for all records together.
    let stamp = EditStamp(
      physical: Timestamp(milliseconds: 1_700_000_000_000 + Int64(number)),
      counter: key.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }, replica: "check")
    let entry = OutboxEntry(
      id: SourceBench.id(key), edit: Edit(content, stamp: stamp), base: base)
    return OutgoingChange(
      id: entry.id, content: content, base: base, key: entry.idempotencyKey(for: entry.edit), stamp: stamp)
  }

  /// Pushes one batch, and checks that there is one outcome for each change.
  func push(_ changes: [OutgoingChange], to sink: (any RemoteRecordSink)? = nil) async throws -> [PushOutcome]
  {
    let outcomes = try await (sink ?? harness.sink).push(changes, entities: schema)
    try expect(outcomes.count, equals: changes.count, "A push has one outcome for each change.")
    return outcomes
  }

  /// Pushes one group, and checks that it was applied whole or not at all.
  func push(group changes: [OutgoingChange]) async throws -> [PushOutcome] {
    guard harness.sink.appliesGroups else {
      throw Inapplicable(reason: "The sink applies each change on its own.")
    }
    guard try await harness.sink.limits().maximumRecords >= changes.count else {
      throw Inapplicable(reason: "The sink takes fewer changes at once.")
    }
    let outcomes = try await harness.sink.push(atomically: changes, entities: schema)
    try expect(outcomes.count, equals: changes.count, "A push has one outcome for each change.")
    return outcomes
  }

  /// Pushes one change.
  func push(_ change: OutgoingChange, to sink: (any RemoteRecordSink)? = nil) async throws -> PushOutcome {
    guard let outcome = try await push([change], to: sink).first else {
      throw ConformanceFailure("A push has one outcome for each change.")
    }
    return outcome
  }

  /// Pushes one change that must be applied, and returns the base for the next edit.
  func pushAccepted(_ change: OutgoingChange) async throws -> OutboxEntry.Base {
    try base(of: try await push(change), of: change.id)
  }

  /// The base for an edit of an accepted change.
  func base(of outcome: PushOutcome, of id: RecordID) throws(ConformanceFailure) -> OutboxEntry.Base {
    guard case .accepted(let word) = outcome else {
      throw ConformanceFailure("A change with a current base is accepted, not \(outcome.name).")
    }
    try expect(word.id, equals: id, "An outcome has the id of its change's record.")
    switch word {
    case .upsert(let record):
      try expect(record.version.epoch, equals: 0, "A sink leaves the epoch to the engine.")
      return .copy(record)
    case .tombstone(let tombstone):
      try expect(tombstone.version.epoch, equals: 0, "A sink leaves the epoch to the engine.")
      return .deleted(tombstone)
    case .malformed: throw ConformanceFailure("An accepted outcome is a copy or a tombstone.")
    }
  }

  /// The base for an edit after another client's write.
  func base(of key: String) async throws -> OutboxEntry.Base {
    switch try await harness.read(key) {
    case .upsert(let record)?: .copy(record)
    case .tombstone(let tombstone)?: .deleted(tombstone)
    case .malformed?: throw ConformanceFailure("A record comes as a copy.")
    case nil: .none
    }
  }

  /// The remote's value of a key; `nil` if there is no such record.
  func value(_ key: String) async throws -> Int64? {
    guard case .upsert(let record)? = try await harness.read(key),
      case .integer(let value)? = record.fields.first
    else { return nil }
    return value
  }

  /// Checks that a change was not applied, and that the outcome has the remote state.
  func expectConflict(
    _ outcome: PushOutcome, with value: Int64?, _ sentence: String
  ) throws(ConformanceFailure) {
    guard case .conflict(let word) = outcome else {
      throw ConformanceFailure("\(sentence) The outcome was \(outcome.name) instead of a conflict.")
    }
    switch word {
    case .upsert(let record)?:
      let found = record.fields.first
      try expect(
        found, equals: value.map { .integer($0) }, "A conflict tells the record as the remote has it.")
    case .tombstone?, nil:
      try expect(value == nil, "A conflict tells the record that the remote has.")
    case .malformed?: throw ConformanceFailure("A conflict with a record tells it as a copy.")
    }
  }
}

extension PushOutcome {
  /// The name of the outcome without contents, for messages.
  var name: String {
    switch self {
    case .accepted: "accepted"
    case .conflict: "a conflict"
    case .moved: "accepted under another key"
    case .unknown: "an unknown outcome"
    case .refused(let reason): "refused (\(reason))"
    case .retryLater: "retry later"
    case .quotaExceeded: "quota exceeded"
    case .notApplied: "not applied, for another change of its group"
    }
  }
}
