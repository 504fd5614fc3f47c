import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("What a complete listing did not tell because of an edit", .timeLimit(.minutes(10)))
struct ListingGapTests {
  private static let meter = RecordID(type: "meters", key: "m1")

  /// A record that was pulled and edited, and that the remote then deleted.
  ///
  /// A complete listing has followed, so deltas no longer show the deletion.
  private func world(editedDuringTheListing: Bool = false) async throws -> PushWorld {
    let world = try await PushWorld(options: SyncOptions(pageSize: 1)) { $0.sendsTombstones = false }
    for key in ["m0", "m1", "m2"] { world.remote.upsert("meters", key, #"{"name":0}"#) }
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m1")
    if editedDuringTheListing {
      world.remote.onRequest = { request in
        guard case .resume = request.position else { return }
        world.remote.onRequest = nil
        try? await world.write("meters", "m1")
      }
    } else {
      try await world.write("meters", "m1")
    }
    _ = try await world.engine.sync(SyncRequest(fullPull: ["meters"], direction: .pull))
    #expect(try await world.outbox().map(\.id) == [Self.meter])
    #expect(world.here()["m1"] == #"{"name":1}"#)
    return world
  }

  @Test(arguments: [false, true])
  func isToldAtOnceWhereTheEditIsGivenUp(_ editedDuringTheListing: Bool) async throws {
    let world = try await world(editedDuringTheListing: editedDuringTheListing)
    try await world.engine.edits.discard(Self.meter)
    #expect(try await world.engine.sync()["meters"].swept == 1)
    #expect(world.here() == world.there())
    // And the next pull is a delta again.
    #expect(try await world.engine.sync()["meters"].fetched == 0)
  }

  @Test func isToldAtOnceWhereTheEditIsTakenBack() async throws {
    let world = try await world()
    try await world.write("meters", "m1", ["name": "0"])
    #expect(try await world.outbox().isEmpty)
    #expect(try await world.engine.sync()["meters"].swept == 1)
    #expect(world.here() == world.there())
  }

  @Test func isToldAtOnceWhereAnEditIsTakenBackAndACopyWaits() async throws {
    let world = try await PushWorld(options: SyncOptions(massDeletionRecords: 0, massDeletionShare: 0))
    world.remote.upsert("folders", "f1", #"{"parent":"f0"}"#)
    _ = try await world.engine.sync()
    try await world.write("folders", "f1")
    world.remote.delete("folders", "f1")
    // The listing is complete, but its missing records may not be removed yet.
    _ = try await world.engine.sync(SyncRequest(fullPull: ["folders"], direction: .pull))
    try await world.delete("folders", "f1")
    #expect(try await world.outbox("folders").isEmpty)
    world.remote.upsert("folders", "f0", "{}")
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(world.here("folders") == ["f0": "{}"])
    #expect(try await world.engine.sync()["folders"].fetched == 0)
  }

  @Test func isToldAtOnceWhereTheEditMeetsACopyFromBeforeTheListing() async throws {
    let world = try await PushWorld()
    try await world.write("folders", "f1")
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("folders", "f0", "{}")
    world.remote.upsert("folders", "f1", #"{"parent":"f0"}"#)
    // The remote state of the push waits for its parent, and is deleted before the parent is
    // listed.
    _ = try await world.engine.push()
    world.remote.delete("folders", "f1")
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(try await world.outbox("folders").isEmpty)
    _ = try await world.engine.sync()
    #expect(world.here("folders") == ["f0": "{}"])
    #expect(try await world.engine.sync()["folders"].fetched == 0)
  }

  @Test func isToldAtOnceWhereTheEditWasThereLongBeforeTheListing() async throws {
    let world = try await PushWorld()
    world.remote.behave(.loseAnswer(SyncError(.remoteUnavailable, during: "pushing")), onNextPushes: 10)
    world.remote.upsert("meters", "m0", "{}")
    try await world.write("meters", "m1")
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.remote.takePushesWell()
    world.remote.delete("meters", "m1")
    _ = try await world.engine.sync(SyncRequest(fullPull: ["meters"], direction: .pull))
    // The remote sends the same state again.
    _ = try await world.engine.sync()
    #expect(try await world.outbox().isEmpty)
    #expect(world.here() == world.there())
    #expect(world.there() == ["m0": "{}"])
    #expect(try await world.engine.sync()["meters"].fetched == 0)
  }

  @Test func leavesNoRivalOfWhatTheListingBrings() async throws {
    let world = try await PushWorld(options: SyncOptions(pageSize: 1, pagesAhead: 0))
    try await world.write("readings", "r1")
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("readings", "r0", "{}")
    world.remote.upsert("readings", "r1", #"{"meter":"m1"}"#)
    _ = try await world.engine.push()
    world.remote.upsert("readings", "r1", #"{"meter":"m2"}"#)
    // The listing begins while the edit is pending, and is interrupted.
    let source = CancellationSource()
    world.remote.onRequest = { request in
      if request.entity.type == "readings", case .resume = request.position { source.cancel() }
    }
    let cut = try await world.engine.sync(SyncRequest(direction: .pull), token: source)
    #expect(cut["readings"].fetched == 1)
    world.remote.onRequest = nil
    // The page before shows the remote state of the push, an older copy than the listing's.
    world.remote.upsert("meters", "m1", "{}")
    let result = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(try await world.outbox("readings").isEmpty)
    #expect(result["readings"].quarantined == 0)
    world.remote.upsert("meters", "m2", "{}")
    _ = try await world.engine.sync()
    #expect(world.here("readings") == world.there("readings"))
  }

  @Test func leavesNoRivalOfWhatWasPushedBeforeTheListingGoesOn() async throws {
    let world = try await PushWorld(options: SyncOptions(pageSize: 1, pagesAhead: 0))
    for key in ["m0", "m1", "m2"] { world.remote.upsert("meters", key, #"{"name":0}"#) }
    let source = CancellationSource()
    world.remote.onRequest = { request in
      if request.entity.type == "meters", case .resume = request.position { source.cancel() }
    }
    let cut = try await world.engine.sync(SyncRequest(direction: .pull), token: source)
    #expect(cut["meters"].fetched == 1)
    world.remote.onRequest = nil
    try await world.write("meters", "m2")
    _ = try await world.engine.push()
    #expect(world.there()["m2"] == #"{"name":1}"#)
    // The listing is of the instant before the push.
    let result = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(result["meters"].quarantined == 0)
    #expect(result["meters"].skippedOlder == 1)
    #expect(try await world.engine.status().allSatisfy { $0.withheld.isEmpty })
    #expect(world.here() == world.there())
  }

  @Test func isLeftToThePushOtherwise() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    #expect(world.there()["m1"] == #"{"name":1}"#)
    #expect(world.here() == world.there())
    let result = try await world.engine.sync()
    #expect(result["meters"].fetched == 0)
  }

  @Test func costsNoCompleteListingIfTheAnswerIsLostAfterIt() async throws {
    let world = try await PushWorld()
    for key in ["m0", "m1", "m2"] { world.remote.upsert("meters", key, #"{"name":0}"#) }
    try await world.write("meters", "m3")
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    world.remote.behave(.loseAnswer(SyncError(.remoteUnavailable, during: "pushing")), onNextPushes: 10)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.remote.takePushesWell()
    // The edit's own record, in a delta from before it.
    #expect(try await world.engine.sync()["meters"].fetched == 1)
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  @Test func costsNoCompleteListingIfAnEditOfALaterTimeIsGivenUp() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m1")
    try await world.engine.edits.discard(Self.meter)
    #expect(try await world.engine.sync()["meters"].fetched == 0)
  }
}
