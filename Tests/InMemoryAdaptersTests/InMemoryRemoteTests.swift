import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization
import Testing

@Suite("Scripted faults of a remote in memory", .timeLimit(.minutes(10)))
struct InMemoryRemoteTests {
  static let entity = Entity("items", schemaVersion: 2, schemaVersionField: "schema", indexes: ["value"])
  let clock = ManualClock()

  private func remote(_ configuration: InMemoryRemote.Configuration = .privateZone, count: Int = 6)
    -> InMemoryRemote
  {
    let remote = InMemoryRemote(configuration: configuration, clock: clock)
    remote.load("items", (0..<count).map { ("i\($0)", Array(#"{"value":\#($0)}"#.utf8)) })
    return remote
  }

  private func page(
    _ remote: InMemoryRemote, _ position: PullPosition = .start(since: nil), limit: Int = 2, pass: Int64 = 1
  ) async throws(SyncError) -> RecordPage {
    try await remote.page(PageRequest(entity: Self.entity, position: position, limit: limit, pass: pass))
  }

  private func keys(_ page: RecordPage) -> [String] { page.changes.compactMap(\.id?.key) }

  private func next(_ page: RecordPage) throws -> PullPosition {
    guard case .more(let token, _) = page.next else { throw SyncError(.inconsistentData, during: "going on") }
    return .resume(token)
  }

  @Test func failsTheRequestsItIsToldTo() async throws {
    let remote = remote()
    let error = SyncError(.remoteUnavailable, during: "testing", retryAfter: .seconds(3))
    remote.behave(.fail(error), onNext: 2)
    for _ in 1...2 {
      let thrown = await #expect(throws: SyncError.self) { try await page(remote) }
      #expect(thrown?.retryAfter == .seconds(3))
    }
    #expect(keys(try await page(remote)) == ["i0", "i1"])
    #expect(remote.unplayedBehaviours == 0)
    #expect(remote.counters() == remote.counters(for: "items"))
    #expect(remote.counters().requests == 3 && remote.counters().pages == 1 && remote.counters().changes == 2)
    #expect(remote.requestLog.count == 3)
  }

  @Test(arguments: [InMemoryRemote.Configuration.privateZone, .timestampedCollection()], [true, false])
  func goesBackToItsBackup(_ configuration: InMemoryRemote.Configuration, isTold: Bool) async throws {
    let remote = remote(configuration)
    let backup = remote.backUp()
    clock.advance(by: .seconds(10))
    remote.upsert("items", "i0", #"{"value":9}"#)
    remote.delete("items", "i1")
    let token = try #require(try await page(remote).startToken)
    let paged = try next(try await page(remote))
    remote.restore(backup, isTold: isTold)
    #expect(remote.records(of: "items").map(\.key) == (0..<6).map { "i\($0)" })
    #expect(String(decoding: remote.records(of: "items")[0].payload.bytes, as: UTF8.self) == #"{"value":0}"#)
    #expect(try await page(remote, paged).next == .reset(isTold ? .remoteReplaced : .pageTokenExpired))
    // A number of before is given out again.
    remote.upsert("items", "i2", #"{"value":2}"#)
    guard case .upsert(let record)? = remote.present(RecordID(type: "items", key: "i2"), of: Self.entity)
    else {
      Issue.record("i2 is not there.")
      return
    }
    #expect(record.version.sequence == 7)
    let answer = try await page(remote, .start(since: token))
    guard !isTold else { return #expect(answer.next == .reset(.remoteReplaced)) }
    if case .modifiedSince = configuration.deltas { #expect(keys(answer) == ["i2"]) }
  }

  @Test func countsRequestsOfATypeApart() async throws {
    let remote = remote()
    remote.behave(.fail(SyncError(.quotaExceeded, during: "testing")), on: 2, of: "items")
    _ = try await remote.page(
      PageRequest(entity: Entity("others"), position: .start(since: nil), limit: 1, pass: 1))
    _ = try await page(remote)
    #expect(remote.unplayedBehaviours == 1)
    await #expect(throws: SyncError.self) { try await page(remote) }
    #expect(remote.unplayedBehaviours == 0)
  }

  @Test func hangsUntilItIsReleased() async throws {
    let remote = remote()
    remote.behave(.hang, onNext: 1)
    async let hanging = page(remote)
    await remote.waitUntilRequestHangs()
    #expect(remote.hangingRequests == 1)
    remote.releaseHanging()
    #expect(keys(try await hanging) == ["i0", "i1"])
  }

  @Test func hangsUntilTheTaskIsCancelled() async {
    let remote = remote()
    remote.behave(.hang, onNext: 1)
    await withTaskGroup(of: SyncError.Code?.self) { group in
      group.addTask {
        do throws(SyncError) {
          _ = try await page(remote)
          return nil
        } catch {
          return error.code
        }
      }
      await remote.waitUntilRequestHangs()
      group.cancelAll()
      #expect(await group.next() == .cancelled)
    }
    #expect(remote.hangingRequests == 0)
  }

  @Test func sendsShortAndEmptyPagesThatAreNotTheLast() async throws {
    let remote = remote()
    remote.behave(.shortPage(1), on: 1)
    remote.behave(.emptyPage, on: 2...3)
    let first = try await page(remote)
    let second = try await page(remote, next(first))
    let third = try await page(remote, next(second))
    let fourth = try await page(remote, next(third))
    #expect([first, second, third, fourth].map(keys) == [["i0"], [], [], ["i1", "i2"]])
    #expect(second.next != third.next && first.next != second.next)
  }

  @Test func answersAnEmptyFirstPageWithAToken() async throws {
    let remote = remote()
    remote.behave(.emptyPage, on: 1)
    let first = try await page(remote)
    #expect(first.changes.isEmpty && first.startToken != nil && first.total == 6)
    #expect(keys(try await page(remote, next(first))) == ["i0", "i1"])
  }

  @Test func repeatsAPage() async throws {
    let remote = remote()
    remote.behave(.repeatedPage, on: 2)
    let first = try await page(remote)
    let second = try await page(remote, next(first))
    #expect(second == first)
    #expect(keys(try await page(remote, next(second))) == ["i2", "i3"])
  }

  @Test func getsStuck() async throws {
    let remote = remote()
    let first = try await page(remote)
    remote.behave(.stuckToken, onNext: .max)
    for _ in 1...3 {
      let stuck = try await page(remote, next(first))
      #expect(stuck.changes.isEmpty && stuck.next == first.next)
    }
    remote.behaveWell()
    #expect(keys(try await page(remote, next(first))) == ["i2", "i3"])
  }

  @Test func answersFromAReplicaThatLagsBehind() async throws {
    let remote = remote()
    let token = try await page(remote, limit: 10).startToken
    remote.upsert("items", "i0", #"{"value":100}"#)
    remote.upsert("items", "i1", #"{"value":101}"#)
    remote.behave(.laggingReplica(changes: 1), onNext: 1)
    let behind = try await page(remote, .start(since: token))
    #expect(keys(behind) == ["i0"])
    // The replica's token does not skip the changes that it lacked.
    guard case .done(let own?) = behind.next else { return #expect(Bool(false), "The delta ends.") }
    #expect(keys(try await page(remote, .start(since: own))) == ["i1"])
  }

  @Test func listsOneInstantWhateverHappensMeanwhile() async throws {
    let remote = remote()
    let first = try await page(remote)
    remote.upsert("items", "i2", #"{"value":200}"#)
    remote.delete("items", "i3")
    remote.upsert("items", "i20", #"{"value":20}"#)
    let second = try await page(remote, next(first))
    #expect(keys(second) == ["i2", "i3"])
    let fields: [[FieldValue]] = second.changes.compactMap { change in
      if case .upsert(let record) = change { record.fields } else { nil }
    }
    #expect(fields == [[2], [3]])
    let delta = try await page(remote, .start(since: first.startToken), limit: 10)
    #expect(keys(delta) == ["i2", "i3", "i20"])
  }

  @Test func movesAnEditedRecordToTheEndOfAMovingListing() async throws {
    let remote = remote(.timestampedCollection(), count: 4)
    let first = try await page(remote)
    clock.advance(by: .seconds(1))
    remote.upsert("items", "i2", #"{"value":200}"#)
    let second = try await page(remote, next(first))
    #expect(keys(second) == ["i3", "i2"])
  }

  @Test func sendsAnotherProcessOn() async throws {
    let (here, there) = (remote(), remote())
    let first = try await page(here)
    #expect(try await page(there, next(first)) == page(here, next(first)))
    let stranger = InMemoryRemote(identity: "stranger", clock: clock)
    #expect(try await page(stranger, next(first)).next == .reset(.pageTokenExpired))
  }

  @Test func saysWhyATokenIsVoid() async throws {
    let remote = remote()
    let first = try await page(remote)
    remote.expirePageTokens()
    #expect(try await page(remote, next(first)).next == .reset(.pageTokenExpired))
    #expect(try await page(remote, .start(since: first.startToken)).next != .reset(.tokenExpired))
    remote.expireTokens(of: "items")
    #expect(try await page(remote, .start(since: first.startToken)).next == .reset(.tokenExpired))
    let token = try await page(remote).startToken
    remote.wipe("items")
    remote.upsert("items", "new", "{}")
    #expect(try await page(remote, .start(since: token)).next == .reset(.remoteReplaced))
    let anew = try await page(remote)
    #expect(keys(anew) == ["new"])
    guard case .upsert(let record)? = anew.changes.first else { return #expect(Bool(false), "A copy comes.") }
    #expect(record.version.sequence == 1, "The numbering starts over.")
  }

  @Test func readsTheSchemaVersionOrSaysThatItCannot() async throws {
    let remote = remote(count: 0)
    for (index, schema) in ["2", "3.0", "null", "0", #""x""#, "1.5"].enumerated() {
      remote.upsert("items", "i\(index)", #"{"schema":\#(schema)}"#)
    }
    remote.putMalformed("items", nil, Array("{}".utf8))
    let found = try await page(remote, limit: 10).changes.map { change -> Int? in
      if case .upsert(let record) = change { record.schemaVersion } else { nil }
    }
    #expect(
      found == [nil, 2, 3, 1, nil, nil, nil], "A malformed record without a key sorts before all keys.")
  }

  @Test func letsATestActBetweenPages() async throws {
    let remote = remote()
    let seen = Mutex(0)
    remote.onRequest = { request in
      seen.withLock { $0 += 1 }
      if case .resume = request.position { remote.upsert("items", "late", "{}") }
    }
    _ = try await page(remote, next(try await page(remote)))
    #expect(seen.withLock { $0 } == 2)
    #expect(remote.records(of: "items").map(\.key).contains("late"))
  }

  @Test func takesItsTime() async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.latency = .milliseconds(20)
    let remote = remote(configuration)
    async let answer = page(remote)
    #expect(await clock.nextSleep() == .milliseconds(20))
    clock.advance(by: .milliseconds(20))
    #expect(keys(try await answer) == ["i0", "i1"])
  }

  @Test func roundsTimesDown() async throws {
    var configuration = InMemoryRemote.Configuration.timestampedCollection()
    configuration.timeGranularity = .seconds(10)
    let clock = ManualClock(timestamp: Timestamp(milliseconds: -1))
    let remote = InMemoryRemote(configuration: configuration, clock: clock)
    remote.upsert("items", "a", "{}")
    guard case .upsert(let record)? = try await page(remote).changes.first else {
      return #expect(Bool(false))
    }
    #expect(record.version.modifiedAt == Timestamp(milliseconds: -10_000))
  }
}
