import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("What a remote says to a push", .timeLimit(.minutes(10)))
struct PushOutcomeTests {
  @Test func aRefusedEditStaysWithItsReasonAndKeepsNoOtherBack() async throws {
    let world = try await PushWorld()
    world.remote.rule(.refused(reason: "bad name"), on: "meters", "m2")
    for key in ["m1", "m2", "m3"] { try await world.write("meters", key) }
    let result = try await world.engine.sync()
    #expect(result.pushed.accepted == 2)
    #expect(result.pushed.refused == 1)
    #expect(result.pushed.pending == 1)
    #expect(world.there().keys.sorted() == ["m1", "m3"])
    #expect(world.here().count == 3)
    let entry = try #require(try await world.outbox().first)
    #expect(entry.state == .refused(reason: "bad name", at: world.clock.timestamp))
    #expect(entry.sent == nil)
    let refusals = world.recorder.events.compactMap {
      if case .editRefused(let id, let reason) = $0 { "\(id): \(reason)" } else { nil }
    }
    #expect(refusals == ["meters/m2: bad name"])
    // A useless retry does not occur.
    #expect(try await world.engine.sync().pushed.requests == 0)
    #expect(world.remote.pushCounters.requests == 1)
  }

  @Test func aRefusedEditIsSentAgainOnceItIsEditedOrAskedFor() async throws {
    let world = try await PushWorld()
    for key in ["m1", "m2"] {
      world.remote.rule(.refused(reason: "no"), on: "meters", key)
      try await world.write("meters", key)
    }
    _ = try await world.engine.push()
    for key in ["m1", "m2"] { world.remote.rule(nil, on: "meters", key) }
    try await world.write("meters", "m1", ["name": "2"])
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"name":2}"#])
    try await world.engine.edits.retry("meters")
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there().count == 2)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func aRefusalOfAnEditThatIsNoLongerWantedDoesNotHoldTheNewerOneBack() async throws {
    let world = try await PushWorld()
    world.remote.rule(.refused(reason: "no"), on: "meters", "m1")
    try await world.write("meters", "m1")
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.write("meters", "m1", ["name": "2"])
    }
    #expect(try await world.engine.push().pushed.refused == 0)
    let entry = try #require(try await world.outbox().first)
    #expect(entry.state == .waiting)
    #expect(entry.sent == nil)
    world.remote.rule(nil, on: "meters", "m1")
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"name":2}"#])
  }

  @Test func aRecordMadeAndDeletedBeforeItsRefusalLeavesNothingToSend() async throws {
    let world = try await PushWorld()
    world.remote.rule(.refused(reason: "no"), on: "meters", "m1")
    try await world.write("meters", "m1")
    world.remote.onPush = { _ in
      world.remote.onPush = nil
      try? await world.delete("meters", "m1")
    }
    _ = try await world.engine.push()
    #expect(try await world.outbox().isEmpty)
    #expect(world.here().isEmpty)
    #expect(world.remote.pushCounters.deletions == 0)
  }

  @Test func anEditThatIsPutOffWaitsForItsTime() async throws {
    let world = try await PushWorld()
    world.remote.rule(.retryLater(after: .seconds(60)), on: "meters", "m1")
    for key in ["m1", "m2"] { try await world.write("meters", key) }
    let result = try await world.engine.push()
    #expect(result.pushed.postponed == 1)
    #expect(result.pushed.accepted == 1)
    world.remote.rule(nil, on: "meters", "m1")
    world.clock.advance(by: .seconds(59))
    #expect(try await world.engine.push().pushed.requests == 0)
    world.clock.advance(by: .seconds(1))
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there().count == 2)
  }

  @Test func withoutATimeAnEditIsPutOffForLongerEachTime() async throws {
    let world = try await PushWorld()
    world.remote.rule(.retryLater(after: nil), on: "meters", "m1")
    try await world.write("meters", "m1")
    var pauses: [Duration] = []
    for _ in 1...3 {
      _ = try await world.engine.push()
      guard case .postponed(let until)? = try await world.outbox().first?.state else {
        Issue.record("The edit was not put off.")
        return
      }
      pauses.append(until.duration(since: world.clock.timestamp))
      world.clock.advance(by: pauses.last ?? .zero)
    }
    #expect(pauses == [.milliseconds(500), .seconds(1), .seconds(2)])
  }

  // MARK: A remote that is full

  @Test func aFullRemoteKeepsTheQueueAndThePullGoesOn() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "other", "{}")
    world.remote.recordQuota = 2
    for key in ["m1", "m2", "m3"] { try await world.write("meters", key) }
    try await world.write("folders", "f1")
    let result = try await world.engine.sync()
    #expect(result.pushed.isRemoteFull)
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.pending == 3)
    #expect(result["meters"].inserted == 1)
    let full = world.recorder.events.compactMap {
      if case .remoteStorageFull(let pending) = $0 { pending } else { nil }
    }
    #expect(full == [3])
    #expect(try await world.outbox().allSatisfy { $0.state == .waiting && $0.sent == nil })
    world.remote.recordQuota = nil
    let later = try await world.engine.sync()
    #expect(later.pushed.accepted == 3)
    #expect(!later.pushed.isRemoteFull)
    #expect(world.here() == world.there())
  }

  @Test func roomIsAskedForOncePerPushAndUsed() async throws {
    let asked = Mutex(0)
    let remote = Mutex<InMemoryRemote?>(nil)
    var edits = EditOptions()
    edits.onStorageFull = {
      asked.withLock { $0 += 1 }
      let room = remote.withLock { $0 }
      room?.recordQuota = (room?.recordQuota ?? 0) + 1
      return true
    }
    let world = try await PushWorld(edits: edits)
    remote.withLock { $0 = world.remote }
    world.remote.recordQuota = 1
    for key in ["m1", "m2", "m3"] { try await world.write("meters", key) }
    let result = try await world.engine.push()
    #expect(asked.withLock { $0 } == 1)
    #expect(result.pushed.accepted == 2)
    #expect(result.pushed.isRemoteFull)
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(asked.withLock { $0 } == 2)
    #expect(world.hasOneEffectEach)
  }

  @Test(arguments: [SyncRequest.Busy.join, .follow, .refuse])
  func theClosureThatMakesRoomCannotWaitForItsOwnSync(_ ifBusy: SyncRequest.Busy) async throws {
    let engine = Mutex<SyncEngine?>(nil)
    let codes = Mutex<[SyncError.Code]>([])
    var edits = EditOptions()
    edits.onStorageFull = {
      do {
        _ = try await engine.withLock { $0 }?.sync(SyncRequest(ifBusy: ifBusy))
      } catch {
        codes.withLock { $0.append((error as? SyncError)?.code ?? .cancelled) }
      }
      return false
    }
    let world = try await PushWorld(edits: edits)
    engine.withLock { $0 = world.engine }
    world.remote.recordQuota = 0
    try await world.write("meters", "m1")
    #expect(try await world.engine.push().pushed.isRemoteFull)
    #expect(codes.withLock { $0 } == [.syncAlreadyInProgress])
  }

  @Test func deletionsGoToAFullRemote() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "old", "{}")
    world.remote.recordQuota = 1
    _ = try await world.engine.sync()
    try await world.write("meters", "new")
    try await world.delete("meters", "old")
    let first = try await world.engine.sync()
    #expect(first.pushed.isRemoteFull)
    #expect(first.pushed.accepted == 1)
    #expect(world.there().isEmpty)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there().keys.sorted() == ["new"])
    #expect(world.here() == world.there())
  }

  // MARK: Size

  @Test func aBatchThatIsTooLargeIsSplitAndOneRecordThatIsTooLargeIsRefusedByName() async throws {
    let world = try await PushWorld {
      $0.acceptedAtOnce = SinkLimits(maximumRecords: 3, maximumBytes: 100)
    }
    for number in 1...9 { try await world.write("meters", "m\(number)") }
    let long = String(repeating: "x", count: 100)
    try await world.write("meters", "m5", ["name": #""\#(long)""#])
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 8)
    #expect(result.pushed.refused == 1)
    #expect(world.there().count == 8)
    #expect(world.hasOneEffectEach)
    guard case .refused(let reason, _)? = try await world.outbox().first?.state else {
      Issue.record("The record was not refused.")
      return
    }
    #expect(reason.contains("bytes"))
    #expect(try await world.engine.push().pushed.requests == 0)
  }

  @Test func noBatchIsLargerThanTheSinkTakes() async throws {
    let world = try await PushWorld([Entity("meters", stamping: .none)]) {
      $0.pushLimits = SinkLimits(maximumRecords: 2, maximumBytes: 25)
    }
    for number in 1...5 { try await world.write("meters", "m\(number)") }
    try await world.write("meters", "m6", ["name": #""a longer name""#])
    try await world.write("meters", "m7")
    #expect(try await world.engine.push().pushed.accepted == 7)
    #expect(world.batches == [["m1", "m2"], ["m3", "m4"], ["m5"], ["m6"], ["m7"]])
  }
}
