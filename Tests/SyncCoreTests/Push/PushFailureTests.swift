import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A push that fails", .timeLimit(.minutes(10)))
struct PushFailureTests {
  private static let lost = SyncError(.remoteUnavailable, during: "pushing")
  private static let impatient = SyncOptions(retry: RetryPolicy(attempts: 1))

  @Test(arguments: [true, false])
  func aLostAnswerCostsNoSecondEffect(_ remembersKeys: Bool) async throws {
    let world = try await PushWorld { $0.remembersKeys = remembersKeys }
    world.remote.upsert("meters", "m2", "{}")
    world.remote.upsert("meters", "m3", "{}")
    _ = try await world.engine.sync()
    try await world.write("meters", "m1")
    try await world.write("meters", "m2")
    try await world.delete("meters", "m3")
    world.remote.behave(.loseAnswer(Self.lost), onNextPushes: 1)
    world.remote.behave(.loseAnswer(afterApplying: 1, Self.lost), onPushes: 3...3)
    let result = try await world.engine.sync()
    #expect(result.pushed.accepted == 3)
    #expect(result.pushed.conflicts == 0)
    #expect(result.pushed.requests == 4)
    #expect(world.remote.pushEffects.count == 3)
    #expect(world.hasOneEffectEach)
    #expect(world.here() == world.there())
    #expect(world.remote.unplayedPushBehaviours == 0)
    #expect(try await world.engine.sync().isEmpty)
  }

  @Test(arguments: [true, false])
  func whatWasPerhapsReceivedIsSentAgainAsItWasBeforeALaterEdit(_ remembersKeys: Bool) async throws {
    let world = try await PushWorld(options: Self.impatient) { $0.remembersKeys = remembersKeys }
    try await world.write("meters", "m1")
    world.remote.behave(.loseAnswer(Self.lost), onNextPushes: 1)
    await #expect {
      try await world.engine.push()
    } throws: {
      PushWorld.isCode(.remoteUnavailable)($0)
    }
    try await world.write("meters", "m1", ["name": "2"])
    #expect(try await world.outbox().first?.sent != nil)
    _ = try await world.engine.push()
    _ = try await world.engine.push()
    #expect(world.remote.pushLog.count == 3)
    var repeated = world.remote.pushLog[0]
    repeated[0].mayHaveArrived = true
    #expect(world.remote.pushLog[1] == repeated)
    #expect(world.remote.pushEffects.count == 2)
    #expect(world.hasOneEffectEach)
    #expect(world.there() == ["m1": #"{"name":2}"#])
    #expect(try await world.outbox().isEmpty)
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  /// The answer to a later attempt tells of that attempt alone.
  @Test(arguments: [true, false])
  func whatWasPerhapsReceivedIsNoOtherEditWhereTheNextAttemptIsNotTaken(_ remembersKeys: Bool) async throws {
    let world = try await PushWorld(options: Self.impatient) { $0.remembersKeys = remembersKeys }
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m1", ["name": "1"])
    world.remote.behave(.loseAnswer(Self.lost), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.remote.rule(.retryLater(after: nil), on: "meters", "m1")
    _ = try await world.engine.push()
    world.remote.rule(nil, on: "meters", "m1")
    try await world.write("meters", "m1", ["name": "2"])
    world.clock.advance(by: .seconds(3600))
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(world.there() == ["m1": #"{"name":2}"#])
    #expect(try await world.outbox().isEmpty)
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  @Test func aDeletionOfWhatWasPerhapsReceivedWaitsForItsAnswer() async throws {
    let world = try await PushWorld(options: Self.impatient)
    try await world.write("meters", "m1")
    world.remote.behave(.loseAnswer(Self.lost), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    try await world.delete("meters", "m1")
    #expect(try await world.outbox().count == 1)
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 2)
    #expect(world.there().isEmpty)
    #expect(world.remote.pushEffects.map(\.isDeletion) == [false, true])
    #expect(try await world.outbox().isEmpty)
  }

  @Test func offlineFailsAtOnceKeepsTheQueueAndOneSyncDrainsIt() async throws {
    let network = ManualConnectivity(.offline)
    let world = try await PushWorld(connectivity: network)
    for key in ["m1", "m2", "m3"] { try await world.write("meters", key) }
    await #expect {
      try await world.engine.sync()
    } throws: {
      PushWorld.isCode(.offline)($0)
    }
    #expect(world.remote.pushCounters.requests == 0)
    #expect(try await world.outbox().allSatisfy { $0.sent == nil })
    network.connectivity = .online
    let result = try await world.engine.sync()
    #expect(result.pushed.accepted == 3)
    #expect(world.remote.pushCounters.requests == 1)
  }

  @Test func theNetworkThatGoesAwayBetweenTwoBatchesEndsThePush() async throws {
    let network = ManualConnectivity(.online)
    let world = try await PushWorld(connectivity: network) {
      $0.pushLimits = SinkLimits(maximumRecords: 1)
    }
    for key in ["m1", "m2"] { try await world.write("meters", key) }
    world.remote.onPush = { _ in network.connectivity = .offline }
    await #expect {
      try await world.engine.sync()
    } throws: {
      PushWorld.isCode(.offline)($0)
    }
    #expect(world.remote.pushCounters.requests == 1)
    #expect(try await world.outbox().map(\.id.key) == ["m2"])
    world.remote.onPush = nil
    network.connectivity = .online
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.hasOneEffectEach)
  }

  @Test func aRemoteThatStaysAwayEndsTheSyncAfterTheBudget() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    world.remote.behave(.fail(Self.lost), onNextPushes: 5)
    world.remote.behave(.fail(Self.lost), onNext: 2)
    await #expect {
      try await world.engine.sync()
    } throws: {
      PushWorld.isCode(.remoteUnavailable)($0)
    }
    #expect(world.remote.pushCounters.requests == 5)
    #expect(world.remote.counters().requests == 2, "types are asked for once, to tell whether it is away")
    #expect(try await world.outbox().first?.state == .waiting)
    let report = try #require(try await world.engine.status().first { $0.type == "meters" })
    #expect(report.passes.lastError?.code == "remoteUnavailable")
    #expect(report.pending == 1)
    #expect(try await world.engine.sync().pushed.accepted == 1)
  }

  @Test func itIsNotSentAgainBeforeTheTimeTheRemoteNames() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    var busy = Self.lost
    busy.retryAfter = .seconds(20)
    world.remote.behave(.fail(busy), onNextPushes: 1)
    let push = Task { try await world.engine.push() }
    while await world.clock.nextSleep() != .seconds(20) {}
    world.clock.advance(by: .seconds(19))
    #expect(world.remote.pushCounters.requests == 1)
    world.clock.advance(by: .seconds(1))
    #expect(try await push.value.pushed.requests == 2)
    busy.retryAfter = .seconds(60)
    try await world.write("meters", "m2")
    world.remote.behave(.fail(busy), onNextPushes: 1)
    await #expect {
      try await world.engine.push()
    } throws: {
      ($0 as? SyncError)?.retryAfter == .seconds(60)
    }
    #expect(world.clock.sleepers == 0)
  }

  @Test func aTypeThatMayNotBeWrittenIsStillPulled() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m0", "{}")
    try await world.write("meters", "m1")
    try await world.write("folders", "f1")
    world.remote.behave(.fail(SyncError(.permissionDenied, during: "pushing")), onNextPushes: 1)
    let result = try await world.engine.sync()
    #expect(result.failures.map(\.type) == ["meters"])
    #expect(result["meters"].inserted == 1)
    #expect(result.pushed.accepted == 1)
    #expect(world.there("folders").count == 1)
    #expect(try await world.outbox().count == 1)
  }

  @Test(arguments: [true, false])
  func anAnswerThatFitsNoBatchIsNone(_ isShort: Bool) async throws {
    let world = try await PushWorld(
      sink: { remote in
        OtherwiseSink(base: remote) { (push, outcomes) throws(SyncError) in
          guard push == 1 else { return outcomes }
          return isShort ? Array(outcomes.dropLast()) : outcomes.reversed()
        }
      })
    for key in ["m1", "m2"] { try await world.write("meters", key) }
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 2)
    #expect(result.pushed.requests == 2)
    #expect(world.hasOneEffectEach)
    #expect(world.here() == world.there())
  }

  // MARK: Stopped

  @Test(arguments: [true, false])
  func aBatchOnTheWireWhenItIsStoppedIsSettledNextTime(_ byToken: Bool) async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    world.remote.upsert("meters", "m0", "{}")
    world.remote.behave(.hangAfterEffect, onNextPushes: 1)
    let source = CancellationSource()
    let sync = Task { try await world.engine.sync(token: byToken ? source : nil) }
    await world.remote.waitUntilRequestHangs()
    if byToken { source.cancel() } else { sync.cancel() }
    let result = try await sync.value
    #expect(result.wasCancelled)
    #expect(result.pushed.accepted == 0)
    #expect(world.remote.counters().requests == 0)
    #expect(try await world.outbox().first?.sent != nil)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.remote.pushEffects.count == 1)
    #expect(world.here() == world.there())
    #expect(world.clock.sleepers == 0)
  }

  @Test func itStopsBetweenTwoBatches() async throws {
    let world = try await PushWorld { $0.pushLimits = SinkLimits(maximumRecords: 1) }
    for key in ["m1", "m2", "m3"] { try await world.write("meters", key) }
    let token = FlagToken()
    let observer = EditWatcher { token.isCancelled = true }
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, observers: [observer])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m1", #"{"name":"2"}"#)
    let result = try await engine.sync(token: token)
    #expect(result.wasCancelled)
    #expect(world.remote.pushCounters.requests == 1)
    #expect(world.remote.counters().requests == 0)
    #expect(try await world.engine.sync().pushed.accepted == 2)
  }
}

/// Acts when the remote has another copy than the edit.
private struct EditWatcher: SyncObserver {
  let act: @Sendable () -> Void

  func receive(_ event: SyncEvent) {
    if case .conflict = event { act() }
  }
}
