import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Synchronization
import Testing

/// A sink whose remote remembers idempotency keys for all records together.
///
/// A key that comes with another record or other content is an error of the caller, as the draft of
/// the HTTP header field says.
final class GlobalKeySink: ForwardingSink {
  private struct Request: Hashable {
    var id: RecordID
    var content: Edit.Content
  }
  let base: any RemoteRecordSink
  private let known = Mutex<[IdempotencyKey: Request]>([:])

  init(base: InMemoryRemote) { self.base = base }

  var appliesGroups: Bool { false }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let clash = known.withLock { known in
      changes.first { change in
        let request = Request(id: change.id, content: change.content)
        return known.updateValue(request, forKey: change.key).map { $0 != request } ?? false
      }
    }
    if let clash {
      throw SyncError(
        .invalidConfiguration, during: "pushing \(clash.id)", "Its key was sent with another request.")
    }
    return try await base.push(changes, entities: entities)
  }
}

@Suite("A sink with keys for all records together", .timeLimit(.minutes(10)))
struct GlobalKeyTests {
  @Test(arguments: SinkCheck.allCases)
  func keepsThePromisesOfASink(_ check: SinkCheck) async throws {
    let world = World(.privateZone)
    var harness = world.sinkHarness()
    let sink = GlobalKeySink(base: world.remote)
    harness.sink = sink
    harness.reopen = { sink }
    if case .skipped(let reason) = try await check.run(on: harness) { try Test.cancel("\(reason)") }
  }

  /// A check that sent two records under one key would not pass here.
  @Test func refusesOneKeyForTwoRecords() async throws {
    let sink = GlobalKeySink(base: World(.privateZone).remote)
    let entity = SinkHarness.entity
    func change(_ key: String) -> OutgoingChange {
      OutgoingChange(
        id: RecordID(type: entity.type, key: key),
        content: .upsert(Payload(Array(#"{"value":1}"#.utf8)), schemaVersion: 1), base: .none,
        key: IdempotencyKey("shared"),
        stamp: EditStamp(physical: Timestamp(milliseconds: 0), replica: "r"))
    }
    #expect(try await sink.push([change("a")], entities: SyncSchema(entity)).count == 1)
    #expect(try await sink.push([change("a")], entities: SyncSchema(entity)).count == 1)
    await #expect(throws: SyncError.self) {
      try await sink.push([change("b")], entities: SyncSchema(entity))
    }
  }
}

@Suite("The message of a broken promise")
struct FailureMessageTests {
  private func message<Value: Equatable>(_ found: Value, _ wanted: Value) -> String {
    ConformanceFailure.message("It is so.", found, wanted)
  }

  @Test func namesTheMemberAndShowsBothSides() {
    let id = RecordID(type: "items", key: "a")
    let version = Version(sequence: 1, modifiedAt: Timestamp(milliseconds: 5))
    let record = Record(id: id, version: version, payload: Payload(Array("{}".utf8)), fields: [1])
    var other = record
    other.version.sequence = 2
    #expect(message(record, other) == "It is so. .version.sequence: found 1 instead of 2.")
    other = record
    other.fields = [2]
    #expect(message([record], [other]).contains("[0].fields[0]"))
    #expect(message([record], []).contains("Found "))
    #expect(message(1, 2) == "It is so. Found 1 instead of 2.")
    #expect(message(Optional(1), nil) == "It is so. Found Optional(1) instead of nil.")
    let change = RecordChange.upsert(record)
    other.entityTag = "x"
    #expect(message(change, .upsert(other)).contains("entityTag: found nil instead of"))
    #expect(message(change, .tombstone(Tombstone(id: id, version: version))).contains(" instead of "))
    #expect(message(String(repeating: "x", count: 5000), "").utf8.count < 500)
  }

  @Test func survivesControlCharacters() {
    let failure = ConformanceFailure("a\0b\u{1B}[2Jc\nd")
    #expect(
      failure.description == #"a\0b\u{1B}[2Jc"# + "\nd"
        || failure.description == #"a\u{0}b\u{1B}[2Jc"# + "\nd")
    #expect(!failure.description.utf8.contains(0))
  }
}
