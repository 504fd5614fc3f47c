import SyncModels
import SyncPorts

/// A change is applied only to the state that it was made on.
enum BaseChecks {
  static func newRecordIsCreated(_ bench: SinkBench) async throws {
    let base = try await bench.pushAccepted(bench.upsert("a", 1))
    try expect(base.record != nil, "The result of an upsert is a copy.")
    try expect(try await bench.value("a"), equals: 1, "An accepted record is there.")
  }

  static func newRecordMeetsAnExistingOne(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 7)
    try bench.expectConflict(
      try await bench.push(bench.upsert("a", 1)), with: 7,
      "A new record is created only where there is none.")
    try expect(try await bench.value("a"), equals: 7, "A conflict leaves the remote's record as it is.")
  }

  static func editOfTheCurrentCopyIsApplied(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    let base = try await bench.pushAccepted(bench.upsert("a", 2, on: try await bench.base(of: "a")))
    try expect(try await bench.value("a"), equals: 2, "An accepted edit is there.")
    _ = try await bench.pushAccepted(bench.upsert("a", 3, on: base))
    try expect(
      try await bench.value("a"), equals: 3, "An edit can be made on the previous outcome.")
  }

  static func editOfAnOldCopyIsAConflict(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    let base = try await bench.base(of: "a")
    try await bench.harness.upsert("a", 5)
    let outcome = try await bench.push(bench.upsert("a", 2, on: base))
    try bench.expectConflict(outcome, with: 5, "An edit is applied only on the copy it was made on.")
    try expect(try await bench.value("a"), equals: 5, "A conflict leaves the remote's record as it is.")
    guard case .conflict(.upsert(let current)?) = outcome else { return }
    _ = try await bench.pushAccepted(bench.upsert("a", 2, on: .copy(current)))
    try expect(
      try await bench.value("a"), equals: 2, "The edit can be applied to the remote state of the conflict.")
  }

  static func deletionOfTheCurrentCopyIsApplied(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    try await bench.harness.upsert("b", 1)
    let base = try await bench.pushAccepted(bench.deletion("a", on: try await bench.base(of: "a")))
    try expect(base.record == nil, "The result of a deletion is a tombstone.")
    try expect(try await bench.value("a"), equals: nil, "A deleted record is not there.")
    try expect(try await bench.value("b"), equals: 1, "A deletion leaves other records alone.")
  }

  static func deletionOfAnOldCopyIsAConflict(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    let base = try await bench.base(of: "a")
    try await bench.harness.upsert("a", 5)
    try bench.expectConflict(
      try await bench.push(bench.deletion("a", on: base)), with: 5,
      "A deletion is applied only on the copy it was made on.")
    try expect(try await bench.value("a"), equals: 5, "A conflict leaves the remote's record as it is.")
  }

  static func deletionOfAnUnseenRecordIsAConflict(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 5)
    try bench.expectConflict(
      try await bench.push(bench.deletion("a", on: .none)), with: 5,
      "A deletion without a base removes nothing.")
    try expect(try await bench.value("a"), equals: 5, "A conflict leaves the remote's record as it is.")
  }

  static func editOfADeletedRecordIsAConflict(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    let base = try await bench.base(of: "a")
    try await bench.harness.delete("a")
    try bench.expectConflict(
      try await bench.push(bench.upsert("a", 2, on: base)), with: nil,
      "An edit does not restore a deleted record.")
    try expect(try await bench.value("a"), equals: nil, "A conflict leaves the remote's record as it is.")
  }

  static func deletedRecordIsCreatedAnew(_ bench: SinkBench) async throws {
    let first = try await bench.pushAccepted(bench.upsert("a", 1))
    let gone = try await bench.pushAccepted(bench.deletion("a", on: first))
    _ = try await bench.pushAccepted(bench.upsert("a", 2, on: gone))
    try expect(
      try await bench.value("a"), equals: 2, "A record can be created again on a known deletion.")
  }
}
