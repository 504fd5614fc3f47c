import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("What acknowledges an edit", .timeLimit(.minutes(10)))
struct AcknowledgementTests {
  private static let gone = SyncError(.remoteUnavailable, during: "pushing", retryAfter: .seconds(3600))

  /// Adds a member to each record that the remote accepts for the first time.
  private static let number: @Sendable (inout OutgoingChange) -> Void = { change in
    guard case .upsert(let payload, let schema) = change.content, change.base == .none,
      var map = try? FieldMap(payload)
    else { return }
    map["number"] = Array("4711".utf8)[...]
    change.content = .upsert(map.payload, schemaVersion: schema)
  }

  private static let respell: @Sendable (inout OutgoingChange) -> Void = { change in
    change.content = .upsert(Payload(Array(#"{"price":1.5,"name":"Caf\u00e9"}"#.utf8)), schemaVersion: 1)
  }

  @Test(arguments: [true, false])
  func keepsAMemberThatTheRemoteAddedUnderAnEditInFlight(isFieldwise: Bool) async throws {
    let policy: any MergePolicy = isFieldwise ? FieldwiseLastWriteWins() : LastWriteWins()
    let world = try await PushWorld(
      edits: EditOptions(policy: policy),
      sink: { RewritingSink(base: $0, rewrite: Self.number) })
    try await world.write("meters", "m1")
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.write("meters", "m1", ["name": "2"])
    }
    _ = try await world.engine.sync()
    #expect(world.here() == ["m1": #"{"name":2,"number":4711}"#])
    _ = try await world.engine.sync()
    #expect(world.there() == world.here())
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  private struct Sum: MergePolicy {
    func settle(_ conflict: MergeConflict) -> MergeResolution {
      func count(_ payload: Payload?) -> Int64 {
        guard let payload, case .integer(let count)? = try? payload.values(of: ["count"]).first else {
          return 0
        }
        return count
      }
      guard var fields = conflict.remote.content.flatMap({ try? FieldMap($0) }) else {
        return .local(reason: "")
      }
      let sum = count(conflict.local.content) + count(conflict.remote.content) - count(conflict.base)
      fields["count"] = Array("\(sum)".utf8)[...]
      return .merged(fields.payload, reason: "both counted")
    }
  }

  /// Another client, which knows no stamps, has counted on from what was sent.
  @Test(arguments: [0, 1, 2]) func isItsStampInACopyThatAnotherClientHasChanged(addedSince: Int) async throws
  {
    let world = try await PushWorld(edits: EditOptions(policy: Sum()))
    try await world.write("meters", "m1", ["count": "10"])
    _ = try await world.engine.sync()
    try await world.write("meters", "m1", ["count": "12"])
    world.remote.behave(
      .loseAnswer(SyncError(.offline, during: "testing")), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    let sent = try #require(world.there(stamped: true)["m1"])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m1", sent.replacing("12", with: "13", maxReplacements: 1))
    if addedSince > 0 { try await world.write("meters", "m1", ["count": "\(12 + addedSince)"]) }
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.there() == ["m1": #"{"count":\#(13 + addedSince)}"#])
    #expect(world.here() == world.there())
  }

  /// Another client, which knows no stamps, has counted as far as what was sent, and nothing was taken.
  @Test(arguments: [0, 1, 2])
  func isNotAnEqualCountOfAnotherClient(addedSince: Int) async throws {
    let world = try await PushWorld(edits: EditOptions(policy: Sum()))
    world.remote.upsert("meters", "m1", #"{"count":10}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m1", ["count": "11"])
    world.remote.upsert("meters", "m1", #"{"count":11}"#)
    world.remote.behave(
      .loseAnswer(SyncError(.offline, during: "testing")), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.clock.advance(by: .seconds(1))
    if addedSince > 0 { try await world.write("meters", "m1", ["count": "\(11 + addedSince)"]) }
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.there() == ["m1": #"{"count":\#(12 + addedSince)}"#])
    #expect(world.here() == world.there())
  }

  /// The remote accepts edits, and reports that their records cannot be read by now.
  @Test func mayComeWithAMalformedRecord() async throws {
    let world = try await PushWorld(
      sink: { remote in
        OtherwiseSink(base: remote) { (_, outcomes) throws(SyncError) in
          outcomes.map { outcome in
            guard case .accepted(let change) = outcome, let id = change.id else { return outcome }
            let bytes = Payload([123])
            return .accepted(
              .malformed(MalformedRecord(type: id.type, key: id.key, bytes: bytes, reason: "is cut off")))
          }
        }
      })
    try await world.write("meters", "m1")
    try await world.write("meters", "m2")
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.write("meters", "m2", ["name": "2"])
    }
    let pushed = try await world.engine.sync().pushed
    #expect(world.here()["m1"] == #"{"name":1}"#)
    #expect(try await world.outbox().map(\.id.key) == ["m2"])
    #expect(pushed.accepted == 2 && pushed.refused == 0)
    #expect(world.remote.pushCounters.repeats == 0)
    _ = try await world.engine.sync()
    #expect(try await world.outbox().isEmpty)
    #expect(world.here() == world.there())
  }

  /// The remote answers a repeated edit with the current record.
  ///
  /// Another client has changed the record meanwhile.
  @Test func isAConflictWhereItShowsALaterEdit() async throws {
    let current = Answer()
    let world = try await PushWorld(
      sink: { remote in
        OtherwiseSink(base: remote) { (_, outcomes) throws(SyncError) in
          if let now = current.change { return outcomes.map { _ in .accepted(now) } }
          return outcomes
        }
      })
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m1", ["name": "1"])
    world.remote.behave(.loseAnswer(Self.gone), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    try await world.write("meters", "m1", ["name": "2"])
    world.clock.advance(by: .seconds(4000))
    world.remote.upsert("meters", "m1", #"{"name":9,"note":"theirs"}"#)
    let page = try await world.remote.page(
      PageRequest(entity: PushWorld.meters, position: .start(since: nil), limit: 1, pass: 1))
    current.set(page.changes.first)
    let result = try await world.engine.push()
    current.set(nil)
    #expect(result.pushed.conflicts == 1)
    _ = try await world.engine.sync()
    #expect(world.there() == ["m1": #"{"name":9,"note":"theirs"}"#])
    #expect(world.here() == world.there())
    let conflict = try #require(try await world.engine.edits.conflicts().first)
    let base = conflict.base?.withoutEditStamp
    #expect(base == Payload(Array(#"{"name":1}"#.utf8)), "both went on from what had been sent")
  }

  @Test(arguments: [true, false])
  func isNoConflictWhereItIsSpelledOtherwise(remembersKeys: Bool) async throws {
    let world = try await PushWorld(
      configure: { $0.remembersKeys = remembersKeys },
      sink: { RewritingSink(base: $0, rewrite: Self.respell) })
    try await world.write("meters", "m1", ["price": "1.50", "name": #""Café""#])
    world.remote.behave(.loseAnswer(Self.gone), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.clock.advance(by: .seconds(4000))
    _ = try await world.engine.sync()
    #expect(try await world.engine.edits.conflicts().isEmpty)
    #expect(try await world.outbox().isEmpty)
    #expect(world.here() == world.there(), "the remote's bytes are shown")
    let requests = world.remote.pushCounters.requests
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.requests == requests)
  }

  /// The answer was lost, and another client continued from the edit. The app receives both at
  /// once.
  @Test(arguments: [SyncRequest.Direction.pull, .both])
  func tellsThatItChangesWhatIsShown(_ direction: SyncRequest.Direction) async throws {
    let world = try await PushWorld { $0.remembersKeys = false }
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m1")
    world.remote.behave(.loseAnswer(Self.gone), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.remote.upsert("meters", "m1", #"{"name":1,"note":2}"#)
    world.clock.advance(by: .seconds(4000))
    let before = world.recorder.events.count
    let result = try await world.engine.sync(SyncRequest(direction: direction))
    #expect(world.here() == world.there())
    #expect(result["meters"].updated == 0, "no other edit was met")
    #expect(result.total.fetched == result.total.outcomes)
    let told = world.recorder.events.dropFirst(before).compactMap {
      if case .pageCommitted(let page) = $0, !page.changed.isEmpty { page.changed } else { nil }
    }
    #expect(told == [.records([RecordID(type: "meters", key: "m1")])])
  }
}

/// A remote's fixed answer, whatever its effect.
private final class Answer: Sendable {
  private let state = Mutex<RecordChange?>(nil)
  var change: RecordChange? { state.withLock { $0 } }
  func set(_ change: RecordChange?) { state.withLock { $0 = change } }
}
