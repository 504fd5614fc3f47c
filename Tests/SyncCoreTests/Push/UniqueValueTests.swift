import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("An edit refused for a value that another record has", .timeLimit(.minutes(10)))
struct UniqueValueTests {
  /// A remote that accepts a value of `slot` once.
  private struct UniqueSink: RemoteRecordSink {
    let base: InMemoryRemote
    /// A record at which the remote fails, and how often it was sent.
    var failing: (key: String, attempts: Counter)?
    var identity: String { base.identity }
    var keepsUnknownMembers: Bool { true }

    func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      var outcomes: [PushOutcome] = []
      for change in changes {
        if let failing, failing.key == change.id.key {
          failing.attempts.value.withLock { $0 += 1 }
          throw SyncError(.invalidResponse, during: "pushing")
        }
        if let slot = slot(change.content.payload), isTaken(slot, except: change.id.key) {
          outcomes.append(.refused(reason: "taken"))
        } else {
          outcomes += try await base.push([change], entities: entities)
        }
      }
      return outcomes
    }

    private func slot(_ payload: Payload?) -> [UInt8]? {
      payload.flatMap { try? FieldMap($0)["slot"] }.map(Array.init)
    }

    private func isTaken(_ slot: [UInt8], except key: String) -> Bool {
      ["meters", "readings"].contains { type in
        base.records(of: type).contains { $0.key != key && self.slot($0.payload) == slot }
      }
    }
  }

  private final class Counter: Sendable {
    let value = Mutex(0)
  }

  private func world(options: SyncOptions = SyncOptions()) async throws -> PushWorld {
    let world = try await PushWorld(options: options, sink: { UniqueSink(base: $0) })
    try await world.write("meters", "old", ["slot": "1"])
    _ = try await world.engine.sync()
    return world
  }

  private func refusals(_ world: PushWorld) -> Int {
    world.recorder.events.filter { if case .editRefused = $0 { true } else { false } }.count
  }

  @Test(arguments: [true, false]) func goesOnceTheOtherIsDeletedOrChangedInTheSamePush(isDeletion: Bool)
    async throws
  {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    if isDeletion {
      try await world.delete("meters", "old")
    } else {
      try await world.write("meters", "old", ["slot": "2"])
    }
    let pushed = try await world.engine.sync().pushed
    #expect(world.there().keys.sorted() == (isDeletion ? ["new"] : ["new", "old"]))
    #expect(pushed.accepted == 2 && pushed.refused == 0 && pushed.pending == 0)
    #expect(refusals(world) == 0)
  }

  /// The second push of the sync is for what the first one has made possible, not for what failed in it.
  @Test(arguments: [0, 1, 2]) func isSentAgainWithoutTheEditsThatFailed(others: Int) async throws {
    let counter = Counter()
    var options = SyncOptions()
    options.retry.attempts = 1
    let world = try await PushWorld(
      options: options, sink: { UniqueSink(base: $0, failing: ("bad", counter)) })
    world.remote.upsert("meters", "bad", "{}")
    world.remote.upsert("meters", "old", #"{"slot":"1"}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "new", ["slot": #""1""#])
    for number in 0..<others { try await world.write("meters", "more\(number)", [:]) }
    try await world.write("meters", "old", ["slot": #""2""#])
    try await world.delete("meters", "bad")
    _ = try? await world.engine.sync()
    #expect(counter.value.withLock { $0 } == 1)
    #expect(world.there().keys.contains("new"))
  }

  @Test func goesWithAnEditThatComesLater() async throws {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    #expect(refusals(world) == 1)
    try await world.delete("meters", "old")
    #expect(try await world.engine.sync().pushed.accepted == 2)
    #expect(world.there().keys.sorted() == ["new"])
    #expect(try await world.outbox().isEmpty)
  }

  @Test func goesAfterAnotherDeviceHasDeletedTheOther() async throws {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    world.clock.advance(by: .seconds(1))
    world.remote.delete("meters", "old")
    _ = try await world.engine.sync()
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there().keys.sorted() == ["new"])
  }

  @Test func goesAfterASyncThatWasStoppedRightAfterThatDeletion() async throws {
    let world = try await world(options: SyncOptions(maximumConcurrentTypes: 1))
    try await world.write("meters", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    world.clock.advance(by: .seconds(1))
    world.remote.delete("meters", "old")
    let token = FlagToken()
    world.remote.onRequest = { if $0.entity.type == "readings" { token.isCancelled = true } }
    let stopped = try await world.engine.sync(token: token)
    #expect(stopped.wasCancelled && stopped["meters"].deleted == 1)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there().keys.sorted() == ["new"])
  }

  @Test func goesAfterAPullThatBroughtThatDeletion() async throws {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    world.clock.advance(by: .seconds(1))
    world.remote.delete("meters", "old")
    #expect(try await world.engine.sync(SyncRequest(direction: .pull)).total.deleted == 1)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there().keys.sorted() == ["new"])
  }

  /// The same deletion was made here, and a pull shows that it is done before it is pushed.
  @Test func goesAfterAPullThatConfirmedADeletionMadeHere() async throws {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    try await world.delete("meters", "old")
    world.clock.advance(by: .seconds(1))
    world.remote.delete("meters", "old")
    #expect(try await world.engine.sync(SyncRequest(direction: .pull)).total.deleted == 0)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there().keys.sorted() == ["new"])
  }

  /// Whatever else differs in each answer: only the value that the edit needs makes it due.
  @Test func goesAfterAnotherDeviceHasGivenTheOtherAnotherValue() async throws {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    for (slot, name) in [("1", "a"), ("2", "a")] {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("meters", "old", #"{"id":"old","slot":\#(slot),"name":"\#(name)"}"#)
      _ = try await world.engine.sync()
      let pushed = try await world.engine.sync().pushed
      #expect(pushed.requests == (slot == "1" ? 0 : 1) && pushed.accepted == (slot == "1" ? 0 : 1))
    }
    #expect(world.there().keys.sorted() == ["new", "old"])
    #expect(try await world.outbox().isEmpty)
  }

  /// The other one was never shown here, because it refers to a record that is missing.
  @Test(arguments: ["deleted", "updated", "gone from a listing"])
  func goesAfterAWithheldCopyHasGone(_ end: String) async throws {
    let world = try await PushWorld(sink: { UniqueSink(base: $0) })
    world.remote.upsert("readings", "parked", #"{"id":"parked","meter":"none","slot":1}"#)
    try await world.write("readings", "new", ["slot": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    world.clock.advance(by: .seconds(1))
    switch end {
    case "deleted": world.remote.delete("readings", "parked")
    case "updated": world.remote.upsert("readings", "parked", #"{"id":"parked","meter":"none","slot":2}"#)
    default:
      world.remote.wipe("readings")
      world.remote.upsert("readings", "other", #"{"id":"other","slot":3}"#)
    }
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.there("readings").keys.contains("new"))
    #expect(try await world.outbox("readings").isEmpty)
  }

  /// The other one is still shown here as it was, because its next state is withheld.
  @Test(arguments: ["updated", "deleted", "gone from a listing"])
  func goesAfterTheOtherHasChangedUnseen(_ end: String) async throws {
    let world = try await PushWorld(sink: { UniqueSink(base: $0) })
    world.remote.upsert("meters", "old", #"{"id":"old","slot":1}"#)
    world.remote.upsert("readings", "shown", #"{"id":"shown","meter":"old","slot":2}"#)
    _ = try await world.engine.sync()
    let (type, slot): (RecordType, String) = end == "updated" ? ("readings", "2") : ("meters", "1")
    try await world.write(type, "new", ["slot": slot])
    #expect(try await world.engine.sync().pushed.refused == 1)
    world.clock.advance(by: .seconds(1))
    switch end {
    case "updated": world.remote.upsert("readings", "shown", #"{"id":"shown","meter":"none","slot":3}"#)
    case "deleted": world.remote.delete("meters", "old")
    default:
      world.remote.wipe("meters")
      world.remote.upsert("meters", "other", #"{"id":"other","slot":3}"#)
    }
    _ = try await world.engine.sync()
    #expect(world.here(type).keys.contains(end == "updated" ? "shown" : "old"))
    #expect(try await world.engine.sync().pushed.accepted >= 1)
    #expect(world.there(type).keys.contains("new"))
  }

  /// A listing stages what is parked, and parks it again: that is no news.
  @Test func staysRefusedWhereAListingRepeatsWhatIsParked() async throws {
    let readings = Entity(
      "readings", references: [.to("meters", by: "meter")], visibility: .wholeEntity)
    let world = try await PushWorld([PushWorld.meters, readings], sink: { UniqueSink(base: $0) })
    world.remote.upsert("readings", "shown", #"{"id":"shown","slot":2,"name":1}"#)
    _ = try await world.engine.sync()
    try await world.write("readings", "new", ["slot": "2", "name": "1"])
    #expect(try await world.engine.sync().pushed.refused == 1)
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("readings", "shown", #"{"id":"shown","meter":"none","slot":2,"name":2}"#)
    for _ in 0..<2 { _ = try await world.engine.sync() }
    for _ in 0..<2 {
      let result = try await world.engine.sync(SyncRequest(fullPull: ["readings"]))
      #expect(result.pushed.requests == 0 && result.pushed.pending == 1)
    }
  }

  @Test func staysRefusedWithoutSuchAChange() async throws {
    let world = try await world()
    try await world.write("meters", "new", ["slot": "1"])
    try await world.write("meters", "old", ["name": "2"])
    // The update of the other record might have freed the value, so there is a second attempt.
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.refused == 1 && pushed.accepted == 1 && pushed.pending == 1)
    #expect(refusals(world) == 1)
    try await world.write("meters", "other", ["slot": "3"])
    #expect(try await world.engine.sync().pushed.requests == 1)
    #expect(try await world.engine.sync().pushed.requests == 0)
    #expect(refusals(world) == 1)
  }
}
