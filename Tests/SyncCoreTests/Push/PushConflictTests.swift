import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A push that meets other edits", .timeLimit(.minutes(10)))
struct PushConflictTests {
  private func conflicts(_ world: PushWorld) -> [Conflict] {
    world.recorder.events.compactMap { if case .conflict(let conflict, _) = $0 { conflict } else { nil } }
  }

  /// A world in which a record was pulled, edited here, and edited at the remote.
  private func world(
    isLocalLater: Bool, configure: (inout InMemoryRemote.Configuration) -> Void = { _ in }
  ) async throws -> PushWorld {
    let world = try await PushWorld(configure: configure)
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    if !isLocalLater { try await world.write("meters", "m1") }
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m1", #"{"name":9}"#)
    if isLocalLater { try await world.write("meters", "m1") }
    return world
  }

  @Test func theLaterLocalEditIsSentAgainOnTopInTheSamePush() async throws {
    let world = try await world(isLocalLater: true)
    let result = try await world.engine.push()
    #expect(result.pushed.conflicts == 1)
    #expect(result.pushed.accepted == 1)
    #expect(result["meters"].conflicts == 1)
    #expect(result["meters"].outcomes == 0)
    #expect(world.there() == ["m1": #"{"name":1}"#])
    #expect(world.here() == world.there())
    #expect(conflicts(world).map(\.winner) == [.local])
    #expect(world.remote.pushCounters.requests == 2)
    #expect(try await world.engine.sync().total.isEmpty)
    #expect(try await world.engine.edits.conflicts().count == 1)
  }

  @Test func theLaterRemoteEditIsShownAndNothingIsLeftToSend() async throws {
    let world = try await world(isLocalLater: false)
    let result = try await world.engine.sync()
    #expect(result.pushed.conflicts == 1)
    #expect(result.pushed.accepted == 0)
    #expect(result.pushed.pending == 0)
    #expect(world.here() == ["m1": #"{"name":9}"#])
    #expect(conflicts(world).map(\.winner) == [.remote])
    let log = try await world.engine.edits.conflicts()
    #expect(log.first?.local.content.payload?.withoutEditStamp == Payload(Array(#"{"name":1}"#.utf8)))
    let shown = world.recorder.events.contains {
      if case .pageCommitted(let page) = $0 {
        page.changed == .records([RecordID(type: "meters", key: "m1")]) && page.counts.conflicts == 1
      } else {
        false
      }
    }
    #expect(shown)
  }

  @Test func twoNewRecordsUnderOneIdBecomeOne() async throws {
    let a = try await PushWorld(name: "a")
    let b = try await PushWorld(name: "b", beside: a)
    try await a.write("meters", "m1", ["name": "1"])
    try await b.write("meters", "m1", ["name": "2"])
    _ = try await a.engine.sync()
    #expect(try await b.engine.sync().pushed.conflicts == 1)
    _ = try await a.engine.sync()
    #expect(a.here() == ["m1": #"{"name":2}"#])
    #expect(b.here() == a.here())
    #expect(a.there() == a.here())
  }

  @Test func anEditOfARecordThatWasDeletedBringsItBackIfItIsLater() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", "{}")
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m1")
    try await world.write("meters", "m1")
    let result = try await world.engine.sync()
    #expect(result.pushed.conflicts == 1)
    #expect(world.there() == ["m1": #"{"name":1}"#])
    #expect(world.here() == world.there())
  }

  @Test func anEditOfARecordThatTheRemoteKnowsNothingOfIsAnEditOfADeletedOne() async throws {
    let world = try await PushWorld { $0.sendsTombstones = false }
    world.remote.upsert("meters", "m1", "{}")
    _ = try await world.engine.sync()
    world.remote.wipe("meters")
    try await world.write("meters", "m1")
    let result = try await world.engine.push()
    #expect(result.pushed.conflicts == 1)
    #expect(result.pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"name":1}"#])
    _ = try await world.engine.sync()
    #expect(world.here() == world.there())
  }

  @Test func aDeletionOfADeletedRecordIsNoConflict() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", "{}")
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m1")
    try await world.delete("meters", "m1")
    let result = try await world.engine.push()
    #expect(result.pushed.conflicts == 0)
    #expect(result.pushed.accepted == 1)
    #expect(try await world.outbox().isEmpty)
    #expect(world.remote.pushEffects.isEmpty)
  }

  @Test func anEditThatMeetsOthersOverAndOverIsLeftForTheNextSync() async throws {
    let world = try await world(isLocalLater: true)
    let old = world.clock.timestamp - .seconds(10)
    world.remote.onPush = { _ in world.remote.upsert("meters", "m1", #"{"name":8}"#, modifiedAt: old) }
    // The same remote state has a new version each time. The base moves on, without a merge
    // conflict.
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 0)
    #expect(result.pushed.requests == 5)
    #expect(result.pushed.pending == 1)
    world.remote.onPush = nil
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"name":1}"#])
  }

  @Test func anEditMadeWhileItsRecordIsOnTheWireIsSentOnWhatWasAcknowledged() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.write("meters", "m1", ["name": "2"])
    }
    let first = try await world.engine.push()
    #expect(first.pushed.accepted == 1)
    #expect(first.pushed.pending == 1)
    #expect(world.here() == ["m1": #"{"name":2}"#])
    let effect = try #require(world.remote.pushEffects.first)
    #expect(try await world.outbox().first?.base.version == effect.version)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"name":2}"#])
    #expect(world.remote.pushEffects.map(\.base) == [nil, effect.version])
  }

  @Test func aDeletionMadeWhileItsRecordIsOnTheWireFollowsIt() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.delete("meters", "m1")
    }
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 2)
    #expect(world.there().isEmpty)
    #expect(world.here().isEmpty)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func whatItWithheldIsNotCountedAnewByThePullAfterIt() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", "{}")
    world.remote.upsert("readings", "r1", #"{"meter":"m1"}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(1))
    // The push meets a copy with a reference to a record that only the pull will bring.
    world.remote.upsert("meters", "m2", "{}")
    world.remote.upsert("readings", "r1", #"{"meter":"m2"}"#)
    try await world.write("readings", "r1")
    let result = try await world.engine.sync()
    for (type, counts) in result.entities {
      for (name, value) in SyncCounts.names { #expect(value(counts) >= 0, "\(name) of \(type)") }
    }
    #expect(result.total.deferred == 0)
    #expect(result.total.fetched == result.total.outcomes)
    #expect(result["meters"].inserted == 1)
  }

  @Test func whatTheRemoteWritesItselfIsNoEdit() async throws {
    let world = try await PushWorld(edits: EditOptions(policy: FieldwiseLastWriteWins())) {
      $0.numberField = "number"
      $0.remembersKeys = false
    }
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    // The second edit is based on a number that the acknowledgement of the first one replaces.
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.write("meters", "m1", ["second": "2"])
    }
    try await world.write("meters", "m1", ["first": "1"])
    _ = try await world.engine.push()
    #expect(world.here() == ["m1": #"{"name":0,"number":2,"first":1,"second":2}"#])
    // The edit arrives, another client with a slow clock continues from it, and only then is the
    // answer known.
    world.remote.behave(
      .loseAnswer(SyncError(.remoteUnavailable, during: "pushing", "Gone.")), onNextPushes: 10)
    _ = try? await world.engine.push()
    let arrived = world.there()["m1"] ?? ""
    world.remote.upsert(
      "meters", "m1", arrived.dropLast() + #","third":3}"#, modifiedAt: Timestamp(microseconds: 1))
    world.remote.takePushesWell()
    let effects = world.remote.pushEffects.count
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.conflicts == 0)
    #expect(world.remote.pushEffects.count == effects, "nothing was left to tell")
    #expect(try await world.outbox().isEmpty)
    #expect(world.here() == world.there())
  }

  @Test(arguments: [true, false])
  func whoGoesOnFromAnEditWhoseAnswerWasLostIsNotOverwritten(isFieldwise: Bool) async throws {
    let policy: any MergePolicy = isFieldwise ? FieldwiseLastWriteWins() : LastWriteWins()
    let world = try await PushWorld(edits: EditOptions(policy: policy)) { $0.remembersKeys = false }
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    world.remote.behave(
      .loseAnswer(SyncError(.remoteUnavailable, during: "pushing", "Gone.")), onNextPushes: 10)
    try await world.write("meters", "m1", ["first": "1"])
    _ = try? await world.engine.push()
    world.remote.takePushesWell()
    #expect(world.there() == ["m1": #"{"name":0,"first":1}"#])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m1", #"{"name":0,"first":1,"theirs":2}"#)
    try await world.write("meters", "m1", ["ours": "3"])
    let result = try await world.engine.push()
    #expect(result.pushed.conflicts == 1, "and no write is overwritten without a conflict")
    _ = try await world.engine.push()
    #expect(
      world.there()
        == ["m1": #"{"name":0,"first":1,"# + (isFieldwise ? #""theirs":2,"ours":3}"# : #""ours":3}"#)])
    #expect(world.here() == world.there())
  }

  @Test func anAppThatEditsAllTheTimeDoesNotKeepAPushBusy() async throws {
    let world = try await PushWorld { $0.pushLimits = SinkLimits(maximumRecords: 1) }
    for key in ["m1", "m2"] { try await world.write("meters", key) }
    world.remote.onPush = { changes in
      for change in changes {
        try? await world.write("meters", change.id.key, ["name": "\(world.remote.pushCounters.requests)"])
        try? await world.write("meters", "new\(world.remote.pushCounters.requests)")
      }
    }
    let result = try await world.engine.push()
    #expect(result.pushed.accepted >= 2)
    #expect(result.pushed.pending >= 2)
    world.remote.onPush = nil
    _ = try await world.engine.push()
    #expect(world.here() == world.there())
    #expect(world.hasOneEffectEach)
  }
}
