import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncAdapters
import SyncConformance
import Testing

@Suite(
  "A real Kinto as a sink", .enabled(if: RealKinto.address != nil, "Tests/run --all starts the server."),
  .timeLimit(.minutes(10)))
struct RealKintoSinkTests {
  /// All checks but one: the server accepts no key with a slash.
  ///
  /// A batch of mixed outcomes without such a key is below.
  static let checks = Set(SinkCheck.allCases).subtracting([.everyChangeHasItsOutcome])
    .sorted { $0.rawValue < $1.rawValue }

  @Test(arguments: checks)
  func keepsThePromisesOfASink(_ check: SinkCheck) async throws {
    try await Self.run(check, at: RealKinto.address)
  }

  static func run(_ check: SinkCheck, at address: String?) async throws {
    let kinto = try await RealKinto(["items"], at: address)
    var harness = SinkHarness(
      sink: KintoSink(try kinto.source()),
      upsert: { try await kinto.put("items", $0, "\"value\":\($1)") },
      delete: { try await kinto.delete("items", $0) },
      read: { key in
        try await kinto.source().lookup([RecordID(type: "items", key: key)], of: SinkHarness.entity).first
      })
    // A tombstone does not prevent a creation.
    harness.remembersWhatIsGone = false
    harness.serverManagedFields = try kinto.source().capabilities.serverManagedFields
    harness.reopen = { KintoSink(try kinto.source()) }
    let outcome = try await check.run(on: harness)
    if case .skipped(let reason) = outcome {
      #expect(check == .creationSentAgainBringsNothingBack || SinkCheck.ofGroups.contains(check), "\(reason)")
      try Test.cancel("\(reason)")
    }
  }

  @Test func eachChangeOfABatchHasItsOwnFate() async throws {
    let kinto = try await RealKinto("items")
    for key in ["edited", "stale", "gone", "deleted"] { try await kinto.put("items", key, "\"value\":1") }
    let source = try kinto.source()
    let keys = ["edited", "stale", "gone", "deleted"]
    let read = try await source.lookup(
      keys.map { RecordID(type: "items", key: $0) }, of: Entity("items"))
    var bases: [String: OutboxEntry.Base] = [:]
    for case .upsert(let record) in read { bases[record.id.key] = .copy(record) }
    try await kinto.put("items", "stale", "\"value\":5")
    try await kinto.delete("items", "gone")
    func change(_ key: String, _ json: String?) -> OutgoingChange {
      let stamp = EditStamp(physical: Timestamp(milliseconds: 1), replica: "test")
      let content: Edit.Content =
        json.map { .upsert(Payload(Array($0.utf8)), schemaVersion: 1) } ?? .deletion
      return OutgoingChange(
        id: RecordID(type: "items", key: key), content: content, base: bases[key] ?? .none,
        key: IdempotencyKey(key), stamp: stamp)
    }
    let outcomes = try await KintoSink(source).push(
      [
        change("edited", #"{"value":2,"last_modified":7,"id":"another"}"#), change("stale", #"{"value":2}"#),
        change("gone", #"{"value":2}"#), change("deleted", nil), change("a/b", #"{"value":2}"#),
        change("new", #"{"value":3}"#),
      ], entities: SyncSchema(Entity("items")))
    guard outcomes.count == 6, case .accepted(.upsert(let edited)) = outcomes[0],
      case .conflict(.upsert(let stale)?) = outcomes[1], case .conflict(nil) = outcomes[2],
      case .accepted(.tombstone) = outcomes[3], case .refused = outcomes[4],
      case .accepted(.upsert) = outcomes[5]
    else {
      Issue.record("\(outcomes)")
      return
    }
    // The record does not take the time in the payload.
    #expect(edited.version.modifiedAt > Timestamp(milliseconds: 1_000_000))
    #expect(String(decoding: stale.payload.bytes, as: UTF8.self).contains("\"value\":5"))
    #expect(try await kinto.listing("items").keys.sorted() == ["edited", "new", "stale"])
  }

  @Test func theServersOwnLimitIsKept() async throws {
    let kinto = try await RealKinto("items")
    #expect(try await KintoSink(kinto.source()).limits().maximumRecords == 200)
  }
}
