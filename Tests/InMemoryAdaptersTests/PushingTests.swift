import InMemoryAdapters
import SyncModels
import SyncPorts
import Testing

@Suite("Pushes to the remote in memory", .timeLimit(.minutes(10)))
struct PushingTests {
  let clock = ManualClock()
  let schema: SyncSchema

  init() throws {
    schema = try SyncSchema(Entity("meters"))
  }

  func remote(_ change: (inout InMemoryRemote.Configuration) -> Void = { _ in }) -> InMemoryRemote {
    var configuration = InMemoryRemote.Configuration.privateZone
    change(&configuration)
    return InMemoryRemote(configuration: configuration, clock: clock)
  }

  func change(
    _ key: String, _ content: String? = "{}", on base: OutboxEntry.Base = .none, at time: Int64 = 1
  ) -> OutgoingChange {
    let content = content.map {
      Edit.Content.upsert(Payload(Array($0.utf8)), schemaVersion: 1)
    }
    let edit = Edit(
      content ?? .deletion, stamp: EditStamp(physical: Timestamp(milliseconds: time), replica: "a"))
    let entry = OutboxEntry(id: RecordID(type: "meters", key: key), edit: edit, base: base)
    return OutgoingChange(
      id: entry.id, content: edit.content, base: base, key: entry.idempotencyKey(for: edit),
      stamp: edit.stamp)
  }

  @Test func anAnswerThatIsLostLeavesItsEffectsBehindAndHasNoOthers() async throws {
    let remote = remote()
    let lost = SyncError(.remoteUnavailable, during: "testing")
    remote.behave(.loseAnswer(afterApplying: 1, lost), onNextPushes: 1)
    let changes = [change("a"), change("b")]
    await #expect(throws: SyncError.self) { try await remote.push(changes, entities: schema) }
    #expect(remote.records(of: "meters").map(\.key) == ["a"])
    let outcomes = try await remote.push(changes, entities: schema)
    #expect(outcomes.count == 2)
    #expect(remote.pushEffects.map(\.id.key) == ["a", "b"])
    #expect(remote.pushCounters.repeats == 1)
    #expect(remote.pushCounters.changes == 4)
    #expect(remote.unplayedPushBehaviours == 0)
  }

  @Test func aFailureBeforeTheEffectHasNone() async throws {
    let remote = remote()
    remote.behave(.fail(SyncError(.remoteUnavailable, during: "testing")), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await remote.push([change("a")], entities: schema) }
    #expect(remote.pushEffects.isEmpty)
    #expect(remote.pushCounters.requests == 1)
  }

  @Test func aChangeSentAgainToARemoteThatForgetsKeysMeetsItsOwnEffect() async throws {
    let remote = remote { $0.remembersKeys = false }
    _ = try await remote.push([change("a")], entities: schema)
    let again = try await remote.push([change("a")], entities: schema)
    guard case .conflict(.upsert(let record)) = again.first else {
      Issue.record("The outcome was \(again).")
      return
    }
    #expect(record.version.sequence == 1)
    #expect(remote.pushEffects.count == 1)
  }

  @Test func roomIsNeededForNewRecordsAloneAndDeletionsMakeIt() async throws {
    let remote = remote()
    remote.recordQuota = 1
    let outcomes = try await remote.push([change("a"), change("b")], entities: schema)
    #expect(outcomes.last == .quotaExceeded)
    guard case .accepted(.upsert(let record)) = outcomes.first else {
      Issue.record("The outcomes were \(outcomes).")
      return
    }
    let edits = [change("a", nil, on: .copy(record), at: 2), change("b")]
    let second = try await remote.push(edits, entities: schema)
    #expect(second.last != .quotaExceeded)
    #expect(remote.records(of: "meters").map(\.key) == ["b"])
    #expect(remote.pushCounters.deletions == 1)
  }

  @Test func aRulingHoldsUntilItIsTakenBack() async throws {
    let remote = remote()
    remote.rule(.refused(reason: "no"), on: "meters", "a")
    remote.rule(.retryLater(after: .seconds(5)), on: "meters", "b")
    let changes = [change("a"), change("b")]
    let first = try await remote.push(changes, entities: schema)
    #expect(first == [.refused(reason: "no"), .retryLater(after: .seconds(5))])
    remote.rule(nil, on: "meters", "a")
    _ = try await remote.push(changes, entities: schema)
    #expect(remote.records(of: "meters").map(\.key) == ["a"])
  }

  @Test func moreThanIsAcceptedIsRefusedWholeWhateverTheLimitsSay() async throws {
    let remote = remote { $0.acceptedAtOnce = SinkLimits(maximumRecords: 1, maximumBytes: 10) }
    for batch in [[change("a"), change("b")], [change("a", #"{"name":"long"}"#)]] {
      await #expect { try await remote.push(batch, entities: schema) } throws: {
        ($0 as? SyncError)?.code == .batchTooLarge
      }
    }
    #expect(remote.pushEffects.isEmpty)
  }

  @Test func whatIsNoRecordIsRefusedByName() async throws {
    let remote = remote()
    let outcomes = try await remote.push([change("a", "[]"), change("b")], entities: schema)
    guard case .refused = outcomes.first else {
      Issue.record("The outcomes were \(outcomes).")
      return
    }
    #expect(remote.records(of: "meters").map(\.key) == ["b"])
  }

  @Test func aTagFromBeforeAWipeNamesNoLaterState() async throws {
    let remote = remote()
    let first = try await remote.push([change("a")], entities: schema)
    guard case .accepted(.upsert(let record)) = first.first else {
      Issue.record("The outcomes were \(first).")
      return
    }
    remote.wipe("meters")
    remote.upsert("meters", "a", #"{"by":"another client"}"#)
    let outcomes = try await remote.push([change("a", on: .copy(record), at: 2)], entities: schema)
    guard case .conflict = outcomes.first else {
      Issue.record("The outcomes were \(outcomes).")
      return
    }
  }

  @Test func aPushThatHangsAfterItsEffectIsAnsweredWhenItIsReleased() async throws {
    let remote = remote()
    remote.behave(.hangAfterEffect, onNextPushes: 1)
    async let outcomes = remote.push([change("a")], entities: schema)
    await remote.waitUntilRequestHangs()
    #expect(remote.pushEffects.count == 1)
    remote.releaseHanging()
    #expect(try await outcomes.count == 1)
  }
}
