import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

/// The remote's copy refers to a record that is missing here.
///
/// The app edits the copy from before.
@Suite("An edit over a copy that dangles", .timeLimit(.minutes(10)))
struct DanglingEditTests {
  private static let reading = RecordID(type: "readings", key: "r1")

  /// - Parameter isParked: Whether a pull has parked the copy before the edit.
  private func world(
    isParked: Bool, isLocalLater: Bool = true, policy: any MergePolicy = LastWriteWins()
  ) async throws -> PushWorld {
    let world = try await PushWorld(edits: EditOptions(policy: policy))
    world.remote.upsert("meters", "m1", "{}")
    world.remote.upsert("readings", "r1", #"{"meter":"m1","n":0}"#)
    _ = try await world.engine.sync()
    let now = world.clock.timestamp
    world.clock.advance(by: .seconds(10))
    world.remote.upsert(
      "readings", "r1", #"{"meter":"m9","n":0}"#, modifiedAt: isLocalLater ? now : now + .seconds(100))
    if isParked { _ = try await world.engine.sync() }
    return world
  }

  private func kinds(_ world: PushWorld) async throws -> [WithheldChange.Kind] {
    try await world.engine.explain(Self.reading).withheld.map(\.kind)
  }

  @Test(arguments: [true, false], [true, false])
  func goesOutOnTopOfItWhereItIsLater(isParked: Bool, isDeletion: Bool) async throws {
    let world = try await world(isParked: isParked)
    if isDeletion {
      try await world.delete("readings", "r1")
    } else {
      try await world.write("readings", "r1", ["n": "5"])
    }
    _ = try await world.engine.sync()
    #expect(try await world.outbox("readings").isEmpty)
    #expect(world.there("readings") == (isDeletion ? [:] : ["r1": #"{"meter":"m1","n":5}"#]))
    #expect(world.here("readings") == world.there("readings"))
    #expect(try await kinds(world).isEmpty)
    #expect(try await world.engine.edits.conflicts().map(\.winner) == [.local])
  }

  @Test(arguments: [true, false], [true, false])
  func isGivenUpForItWhereItIsEarlier(isParked: Bool, isDeletion: Bool) async throws {
    let world = try await world(isParked: isParked, isLocalLater: false)
    if isDeletion {
      try await world.delete("readings", "r1")
    } else {
      try await world.write("readings", "r1", ["n": "5"])
    }
    _ = try await world.engine.sync()
    #expect(try await world.outbox("readings").isEmpty)
    #expect(world.here("readings") == ["r1": #"{"meter":"m1","n":0}"#], "the copy before stays")
    #expect(try await kinds(world) == [.parked])
    #expect(try await world.engine.edits.conflicts().map(\.winner) == [.remote])
    world.remote.upsert("meters", "m9", "{}")
    _ = try await world.engine.sync()
    #expect(world.here("readings") == ["r1": #"{"meter":"m9","n":0}"#])
    #expect(try await kinds(world).isEmpty)
  }

  /// Both sides' copies refer to a missing record, which alone can settle the conflict.
  @Test(arguments: [true, false])
  func waitsWithoutBeingSentWhereTheMergeWouldDangle(isParked: Bool) async throws {
    let world = try await world(isParked: isParked, policy: FieldwiseLastWriteWins())
    try await world.write("readings", "r1", ["n": "5"])
    _ = try await world.engine.sync()
    let sent = world.remote.pushCounters.changes
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.changes == sent)
    #expect(world.here("readings") == ["r1": #"{"meter":"m1","n":5}"#])
    #expect(try await world.outbox("readings").count == 1)
    world.remote.upsert("meters", "m9", "{}")
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.there("readings") == ["r1": #"{"meter":"m9","n":5}"#])
    #expect(world.here("readings") == world.there("readings"))
    #expect(try await world.outbox("readings").isEmpty)
  }

  /// A remote that has forgotten the deletion answers an edit with no state.
  @Test func isACreationWhereTheRemoteHasForgottenTheDeletion() async throws {
    let world = try await PushWorld(sink: { ForgetfulSink(base: $0) })
    world.remote.upsert("meters", "m1", "{}")
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m1")
    _ = try await world.engine.sync()
    world.remote.wipe("meters")
    try await world.write("meters", "m1")
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.pending == 0)
    #expect(result.pushed.conflicts == 0)
    #expect(world.there() == ["m1": #"{"name":1}"#])
    let log = world.remote.pushLog.joined()
    #expect(log.map(\.base) == [.none])
  }
}

private struct ForgetfulSink: RemoteRecordSink {
  let base: InMemoryRemote
  var identity: String { base.identity }
  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    if changes.contains(where: { if case .deleted = $0.base { true } else { false } }) {
      return changes.map { _ in .conflict(nil) }
    }
    return try await base.push(changes, entities: entities)
  }
}
