import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A record to which the remote gives a key of its own", .timeLimit(.minutes(10)))
struct MovedRecordTests {
  struct Meter: SyncedRecord, Codable, Identifiable, Equatable {
    static let recordType: RecordType = "meters"
    var id: String
    var name = ""
    var room: String?
  }

  private static let outage = SyncError(.remoteUnavailable, during: "a push", "The connection was cut.")

  private func world(
    remembersKeys: Bool = true, beside other: PushWorld? = nil, name: String = "a"
  ) async throws -> PushWorld {
    try await PushWorld(name: name, beside: other) {
      $0.assignsKeys = true
      $0.remembersKeys = remembersKeys
    }
  }

  private func moves(_ world: PushWorld) -> [String] {
    world.recorder.events.compactMap { if case .moved(let id, let new) = $0 { "\(id) \(new)" } else { nil } }
  }

  @Test func hasThatKeyEverywhere() async throws {
    let world = try await world()
    world.remote.upsert("meters", "7", #"{"id":"7","name":"hall"}"#)
    _ = try await world.engine.sync()
    try await world.engine.edits.upsert(Meter(id: "mine", name: "roof"))
    try await world.write("readings", "r1", ["meter": #""mine""#])
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.accepted == 2 && pushed.pending == 0)
    #expect(world.there() == ["7": #"{"id":"7","name":"hall"}"#, "2": #"{"id":"2","name":"roof"}"#])
    #expect(world.here() == world.there())
    #expect(world.there("readings") == ["1": #"{"meter":"2"}"#])
    #expect(world.here("readings") == world.there("readings"))
    #expect(moves(world) == ["meters/mine meters/2", "readings/r1 readings/1"])
    #expect(try await world.engine.sync().isEmpty)
  }

  /// A listing lacked a record of that key before, which was made again here.
  @Test func leavesNoNoteBehindThatItWasMissing() async throws {
    let world = try await world()
    let id = RecordID(type: "meters", key: "mine")
    try await world.engine.edits.upsert(Meter(id: "mine", name: "roof"))
    try await world.store.write(.app) { (transaction) throws(SyncError) in
      let gone = Tombstone(id: id, version: .unversioned)
      try transaction.withhold([
        WithheldChange(
          key: .record(id), kind: .missing, change: .tombstone(gone), reason: "", pass: 0, finder: .store,
          since: Timestamp(microseconds: 0))
      ])
    }
    #expect(try await world.engine.sync().pushed.accepted == 1)
    let left = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.withheld("meters", kinds: [.missing], after: nil, limit: 9)
    }
    #expect(left.isEmpty)
  }

  /// Without an order, both are made by one request.
  @Test(arguments: [true, false])
  func refersByTheNewKeyToAnotherOneThatRefersToIt(isOrdered: Bool) async throws {
    let parent = Reference.to("folders", by: "parent", ordered: isOrdered)
    let world = try await PushWorld([Entity("folders", references: [parent])]) { $0.assignsKeys = true }
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      for key in ["a", "b"] { try batch.set(RecordID(type: "folders", key: key)) { $0["name"] = [49] } }
      for (key, other) in [("a", "b"), ("b", "a")] {
        try batch.set(RecordID(type: "folders", key: key)) { $0["parent"] = Array("\"\(other)\"".utf8)[...] }
      }
    }
    for _ in 1...3 { _ = try await world.engine.sync() }
    #expect(
      world.there("folders") == ["1": #"{"name":1,"parent":"2"}"#, "2": #"{"name":1,"parent":"1"}"#])
    #expect(world.here("folders") == world.there("folders"))
  }

  @Test func isFoundAndEditedByTheKeyThatAScreenStillHolds() async throws {
    let world = try await world()
    try await world.engine.edits.upsert(Meter(id: "mine", name: "roof"))
    var form = try #require(try await world.engine.records.find(Meter.self, id: "mine"))
    _ = try await world.engine.sync()
    #expect(try await world.engine.records.find(Meter.self, id: "mine")?.value.id == "1")
    form.value.name = "attic"
    try await world.engine.edits.upsert(form)
    #expect(world.here() == ["1": #"{"id":"1","name":"attic"}"#])
    try await world.engine.edits.upsert(Meter(id: "mine", name: "cellar"))
    try await world.engine.edits.update(Meter.self, id: "mine") { $0.room = "c" }
    _ = try await world.engine.sync()
    #expect(world.there() == ["1": #"{"id":"1","name":"cellar","room":"c"}"#])
    #expect(world.here() == world.there())
    try await world.engine.edits.delete(Meter.self, id: "mine")
    _ = try await world.engine.sync()
    #expect(world.there().isEmpty && world.here().isEmpty)
  }

  /// A screen of a list that was just made shows its items, and adds others.
  @Test(arguments: [true, false])
  func isReferredToByTheKeyThatAScreenStillHolds(isOrdered: Bool) async throws {
    let meter = Reference.to("meters", by: "meter", ordered: isOrdered)
    let world = try await PushWorld([PushWorld.meters, Entity("readings", references: [meter])]) {
      $0.assignsKeys = true
    }
    world.remote.upsert("meters", "7", #"{"id":"7","name":"hall"}"#)
    _ = try await world.engine.sync()
    try await world.engine.edits.upsert(Meter(id: "mine", name: "roof"))
    try await world.engine.edits.upsert(Reading(id: "r", meter: "mine"))
    try await world.engine.edits.upsert(Reading(id: "s", meter: "7"))
    let conditions: [(Condition, Int)] = [
      (.equal("meter", "mine"), 2), (.isIn("meter", ["7", "mine"]), 3),
      (.not(.equal("meter", "7")) && .any([.equal("meter", "mine"), .equal("n", 5)]), 2),
      (.not(.equal("meter", "mine")), 1), (.equal("meter", "none"), 0),
    ]
    let records = world.engine.records
    var updates = records.observe(Reading.self, where: conditions[0].0).makeAsyncIterator()
    var detail = records.observe(Meter.self, where: .equal("id", "mine")).makeAsyncIterator()
    #expect(try await detail.next()?.map(\.value.name) == ["roof"])
    #expect(try await updates.next()?.map(\.value.meter) == ["mine"])
    _ = try await world.engine.sync()
    #expect(try await updates.next()?.map(\.value.meter) == ["2"])
    #expect(try await detail.next()?.map(\.value.id) == ["2"])
    #expect(try await records.count(Meter.self, where: .isIn("id", ["mine", "7"])) == 2)
    try await world.engine.edits.upsert(Reading(id: "t", meter: "mine"))
    #expect(try await updates.next()?.map(\.value.meter) == ["2", "2"])
    for (condition, count) in conditions {
      #expect(try await records.filter(Reading.self, where: condition).count == count)
      #expect(try await records.count(Reading.self, where: condition) == count)
      let included = try await records.filter(Reading.self, where: condition, including: ["meter"])
      #expect(included.count == count)
      try await world.engine.edits.perform { (batch) throws(SyncError) in
        let found = try batch.records(Query("readings", where: condition))
        #expect(found.count == count)
      }
    }
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(world.there("readings").values.filter { $0.contains(#""meter":"2""#) }.count == 2)
    #expect(world.here("readings") == world.there("readings"))
  }

  private struct Reading: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "readings"
    var id: String
    var meter: String
    var n: Int?
  }

  @Test func keepsWhatIsBesideItForTheKeyThatAScreenStillHolds() async throws {
    let world = try await world()
    let (mine, now) = (RecordID(type: "meters", key: "mine"), RecordID(type: "meters", key: "1"))
    let (room, network) = (ExpiringField<String>("room"), ExpiringMember<String>("network", of: "meters"))
    let (expiring, throttle) = (world.engine.expiring, world.engine.throttle())
    try await throttle.record(Meter(id: "mine"), key: "mine")
    try await expiring.set("kitchen", for: room, of: mine)
    _ = try await world.engine.sync()
    for id in [mine, now] {
      #expect(try await expiring.value(of: room, for: id) == "kitchen")
      #expect(try await throttle.latest(Meter.self, key: id.key)?.value.id == "mine")
      #expect(try await throttle.record(Meter(id: id.key), key: id.key) != .recorded)
    }
    try await expiring.set("attic", for: room, of: mine)
    try await expiring.set("home", for: network, key: "mine")
    for id in [mine, now] {
      #expect(try await expiring.value(of: room, for: id) == "attic")
      #expect(try await expiring.value(of: network, key: id.key) == "home")
      #expect(try await world.engine.explain(id).live != nil)
    }
    try await throttle.reset(mine)
    #expect(try await throttle.record(Meter(id: "1"), key: "1") == .recorded)
    _ = try await world.engine.sync()
    try await world.engine.forget(records: [mine])
    #expect(world.here().isEmpty && world.there().count == 1)
  }

  @Test func isReadRetriedAndGivenUpByTheKeyThatAScreenStillHolds() async throws {
    let world = try await world()
    let mine = RecordID(type: "meters", key: "mine")
    try await world.write("meters", "mine")
    _ = try await world.engine.sync()
    world.remote.rule(.refused(reason: "no"), on: "meters", "1")
    try await world.write("meters", "mine", ["name": "2"])
    _ = try await world.engine.sync()
    let name = try await world.engine.edits.perform { (batch) throws(SyncError) in
      try? batch.record(mine)?.payload.values(of: ["name"]).first
    }
    #expect(name == .integer(2))
    try await world.engine.edits.retry("meters", ["mine"])
    #expect(try await world.outbox().first?.state == .waiting)
    try await world.engine.edits.discard(mine)
    #expect(try await world.outbox().isEmpty)
    #expect(world.here() == ["1": #"{"name":1}"#])
  }

  @Test func isMadeOnceAlthoughTheAnswerIsLost() async throws {
    let world = try await world()
    try await world.write("meters", "mine")
    world.remote.behave(.loseAnswer(Self.outage), onPushes: 1...4)
    _ = try? await world.engine.sync()
    // A pull may be faster than the answer.
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    _ = try await world.engine.sync()
    #expect(world.there() == ["1": #"{"name":1}"#])
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  /// A pull shows the record under the remote's key, and both are edited before the answer comes.
  @Test(arguments: [("room", 1), ("room", 100), ("name", 1)])
  func settlesEditsThatWereMadeUnderBothKeys(_ member: FieldName, _ atOnce: Int) async throws {
    let world = try await PushWorld {
      $0.assignsKeys = true
      $0.pushLimits = SinkLimits(maximumRecords: atOnce)
    }
    try await world.write("meters", "mine", ["name": "1", "id": #""mine""#])
    world.remote.behave(.loseAnswer(Self.outage), onNextPushes: 100)
    _ = try? await world.engine.sync()
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    try await world.write("meters", "mine", ["name": "2"])
    try await world.write("meters", "1", [member: "3"])
    world.remote.takePushesWell()
    for _ in 1...3 { _ = try await world.engine.sync() }
    #expect(world.here() == world.there())
    let isConflict = member == "name"
    #expect(world.there() == ["1": isConflict ? #"{"id":"1","name":3}"# : #"{"id":"1","name":2,"room":3}"#])
    #expect(try await world.engine.edits.conflicts().count == (isConflict ? 1 : 0))
    #expect(try await world.outbox().isEmpty)
  }

  /// A clock was a year ahead during the later edit.
  @Test(arguments: [true, false])
  func keepsTheLaterEditThatAWrongClockHasStamped(isDeletion: Bool) async throws {
    let world = try await world()
    try await world.write("meters", "mine", ["name": "1", "id": #""mine""#])
    world.remote.behave(.loseAnswer(Self.outage), onNextPushes: 100)
    _ = try? await world.engine.sync()
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    try await world.write("meters", "mine", ["name": "2"])
    let now = world.clock.timestamp
    world.clock.timestamp = now + .seconds(365 * 86_400)
    if isDeletion {
      try await world.delete("meters", "1")
    } else {
      try await world.write("meters", "1", ["name": "3"])
    }
    world.clock.timestamp = now + .seconds(2)
    world.remote.takePushesWell()
    for _ in 1...3 { _ = try await world.engine.sync() }
    #expect(world.there() == (isDeletion ? [:] : ["1": #"{"id":"1","name":3}"#]))
    #expect(world.here() == world.there())
    #expect(try await world.engine.edits.conflicts().map(\.winner) == [.remote])
  }

  /// A pull shows the record beside the one whose answer was lost, and a rebuild sees two of one name.
  @Test(arguments: [true, false]) func isNoDuplicateOfItself(isEdited: Bool) async throws {
    let world = try await PushWorld([Entity("meters", naturalKey: NaturalKey("name"))]) {
      $0.assignsKeys = true
    }
    try await world.write("meters", "mine", ["name": #""roof""#])
    world.remote.behave(.loseAnswer(Self.outage), onNextPushes: 100)
    _ = try? await world.engine.sync()
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    _ = try? await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.here().count == 1)
    if isEdited, let key = world.here().keys.first { try await world.write("meters", key, ["n": "2"]) }
    world.remote.takePushesWell()
    world.clock.advance(by: .seconds(3600))
    _ = try await world.engine.sync(SyncRequest(direction: .push))
    #expect(world.here().keys.sorted() == ["1"])
    _ = try await world.engine.sync()
    #expect(world.there() == ["1": isEdited ? #"{"name":"roof","n":2}"# : #"{"name":"roof"}"#])
    #expect(world.here() == world.there())
    let left = try await world.outbox()
    #expect(left.isEmpty, "\(left)")
    #expect(try await world.engine.edits.conflicts().isEmpty)
    #expect(!world.remote.pushLog.joined().contains { $0.content == .deletion })
  }

  /// Another device had deleted a record under the same key before.
  @Test func isNotMadeAgainForTheDeletionOfAFormerRecord() async throws {
    let world = try await world(remembersKeys: false)
    try await world.write("meters", "mine")
    world.remote.behave(.loseAnswer(Self.outage), onPushes: 1...1)
    _ = try? await world.engine.sync()
    world.remote.upsert("meters", "mine", "{}")
    world.remote.delete("meters", "mine")
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(90_000))
    _ = try await world.engine.sync()
    #expect(world.there() == ["1": #"{"name":1}"#])
    guard case .refused? = try await world.outbox().first?.state else {
      Issue.record("The edit does not wait for the app.")
      return
    }
  }

  @Test(arguments: [true, false]) func waitsForTheAppWhereAnotherAttemptMightMakeItTwice(
    isDiscarded: Bool
  ) async throws {
    let world = try await world(remembersKeys: false)
    try await world.write("meters", "mine")
    world.remote.behave(.loseAnswer(Self.outage), onPushes: 1...1)
    let pushed = try? await world.engine.sync().pushed
    #expect(pushed?.refused == 1)
    try await world.write("meters", "mine", ["name": "2"])
    _ = try await world.engine.sync()
    let edit = try #require(try await world.engine.edits.waiting("meters").first)
    #expect(edit.reason.contains("answer"))
    #expect(!edit.isSentWithNextPush)
    #expect(world.there().count == 1)
    let id = RecordID(type: "meters", key: "mine")
    if isDiscarded {
      try await world.engine.edits.discard(id)
    } else {
      try await world.engine.edits.retry("meters", ["mine"])
    }
    _ = try await world.engine.sync()
    #expect(world.there().count == (isDiscarded ? 1 : 2))
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  /// The second answer tells of the second attempt alone.
  @Test(arguments: [true, false]) func isNotMadeTwiceWhereTheNextAttemptIsNotTaken(
    isFull: Bool
  ) async throws {
    let world = try await world(remembersKeys: false)
    try await world.write("meters", "mine")
    world.remote.behave(.loseAnswer(Self.outage), onPushes: 1...1)
    if isFull {
      world.remote.behave(.fail(SyncError(.quotaExceeded, during: "a push")), onPushes: 2...2)
    } else {
      world.remote.onPush = { _ in
        guard world.remote.pushCounters.requests == 2 else { return }
        world.remote.rule(.retryLater(after: nil), on: "meters", "mine")
      }
    }
    _ = try? await world.engine.sync()
    world.remote.rule(nil, on: "meters", "mine")
    world.clock.advance(by: .seconds(3600))
    for _ in 1...2 { _ = try? await world.engine.sync() }
    #expect(world.there().count == 1)
    let edit = try #require(try await world.engine.edits.waiting("meters").first)
    #expect(edit.reason.contains("answer"))
  }

  @Test(arguments: [true, false]) func getsWhatIsDoneWhileItIsOnItsWay(isDeletion: Bool) async throws {
    let world = try await world()
    try await world.write("meters", "mine")
    let isFirst = Mutex(true)
    world.remote.onPush = { _ in
      guard
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { return }
      if isDeletion {
        try? await world.delete("meters", "mine")
      } else {
        try? await world.write("meters", "mine", ["name": "2"])
        try? await world.write("readings", "r1", ["meter": #""mine""#])
      }
    }
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.there() == (isDeletion ? [:] : ["1": #"{"name":2}"#]))
    #expect(world.here() == world.there())
    #expect(world.there("readings") == (isDeletion ? [:] : ["1": #"{"meter":"1"}"#]))
    #expect(try await world.outbox().isEmpty)
  }

  /// The remote makes it again under another key, as the later edit restores it.
  @Test func isFoundByEachKeyAfterItWasDeletedAndMadeAgain() async throws {
    let world = try await world()
    try await world.engine.edits.upsert(Meter(id: "mine", name: "roof"))
    _ = try await world.engine.sync()
    world.remote.delete("meters", "1")
    try await world.engine.edits.upsert(Meter(id: "mine", name: "attic"))
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(world.there() == ["3": #"{"id":"3","name":"attic"}"#])
    #expect(world.here() == world.there())
    for key in ["mine", "1", "3"] {
      #expect(try await world.engine.records.find(Meter.self, id: key)?.value.id == "3")
    }
    // No older copy may be shown under its key.
    let state = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.state(of: RecordID(type: "meters", key: "1"))
    }
    #expect(state?.isDeleted == true)
    #expect(state?.version.sequence == 2)
  }

  /// The remote has not reported the record yet, and would make another one.
  @Test(arguments: [true, false]) func isNoneThatCameWithTheApp(isThere: Bool) async throws {
    let world = try await world()
    if isThere { world.remote.upsert("meters", "7", #"{"id":"7","name":0}"#) }
    _ = try await Bootstrap(
      Array(#"{"format":1,"types":{"meters":{"records":[{"id":"7","name":0}]}}}"#.utf8),
      layout: BootstrapTests.layout
    ).load(into: world.store, schema: world.engine.schema, source: world.remote, clock: world.clock)
    try await world.write("meters", "7", ["name": "1"])
    _ = try await world.engine.sync()
    let key = isThere ? "7" : "1"
    #expect(world.there() == [key: #"{"id":"\#(key)","name":1}"#])
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  @Test func isNotSentIfItIsMadeAndDeletedBefore() async throws {
    let world = try await world()
    try await world.write("meters", "mine")
    try await world.delete("meters", "mine")
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.requests == 0)
  }

  @Test func keepsWhatIsBesideIt() async throws {
    let world = try await world()
    let field = ExpiringField<Int>("guess", lifetime: .seconds(3600))
    try await world.write("meters", "mine")
    try await world.engine.expiring.set(5, for: field, of: RecordID(type: "meters", key: "mine"))
    _ = try await world.engine.sync()
    #expect(try await world.engine.expiring.value(of: field, for: RecordID(type: "meters", key: "1")) == 5)
  }

  /// Two devices make, edit and delete records that refer to each other, and lose answers.
  @Test(arguments: 0..<150) func isTheSameOnEveryDevice(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let first = try await world()
    let devices = [first, try await world(beside: first, name: "b")]
    var count = 0
    for _ in 0..<30 {
      let world = devices[Int(random.next() % 2)]
      let meters = world.here().keys.sorted()
      let meter = meters.isEmpty ? nil : meters[Int(random.next() % UInt64(meters.count))]
      count += 1
      switch random.next() % 6 {
      case 0: try await world.write("meters", "m\(count)", ["n": "\(count)"])
      case 1: if let meter { try await world.write("readings", "r\(count)", ["meter": "\"\(meter)\""]) }
      case 2: if let meter { try await world.write("meters", meter, ["n": "\(count)"]) }
      case 3:
        if let key = world.here("readings").keys.min() { try await world.delete("readings", key) }
      case 4:
        let next = world.remote.pushCounters.requests + 1
        world.remote.behave(.loseAnswer(Self.outage), onPushes: next...next)
      default: _ = try? await world.engine.sync()
      }
    }
    for _ in 0..<4 { for world in devices { _ = try await world.engine.sync() } }
    for world in devices {
      for type in ["meters", "readings"] as [RecordType] {
        #expect(world.here(type) == world.there(type))
        #expect(try await world.outbox(type).isEmpty)
      }
      let meters = Set(world.there().keys)
      #expect(meters.allSatisfy { Int($0) != nil })
      for reading in world.there("readings").values {
        #expect(meters.contains { reading == "{\"meter\":\"\($0)\"}" }, "\(reading)")
      }
    }
    let made = creations(at: first.remote)
    #expect(Set(made).count == made.count, "no record was made twice")
  }

  /// The stamps of the edits that made records.
  private func creations(at remote: InMemoryRemote) -> [EditStamp] {
    remote.pushEffects.filter { $0.base == nil && !$0.isDeletion }.map(\.stamp)
  }
}
