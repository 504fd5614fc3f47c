import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@testable import SyncCore

@Suite("An atomic group of edits", .timeLimit(.minutes(10)))
struct AtomicGroupTests {
  private static let old = RecordID(type: "meters", key: "old")
  private static let new = RecordID(type: "meters", key: "new")
  private static let reading = RecordID(type: "readings", key: "r1")

  /// A device that has the record `old`, with the slot 1.
  private func world(
    _ name: String = "a", beside other: PushWorld? = nil,
    configure: (inout InMemoryRemote.Configuration) -> Void = { _ in },
    sink: (@Sendable (InMemoryRemote) -> any RemoteRecordSink)? = nil
  ) async throws -> PushWorld {
    let world = try await PushWorld(name: name, beside: other, configure: configure, sink: sink)
    if other == nil { try await world.write("meters", "old", ["slot": "1"]) }
    _ = try await world.engine.sync()
    return world
  }

  private static func set(
    _ id: RecordID, _ members: [FieldName: String], in batch: inout EditBatch
  ) throws(SyncError) {
    try batch.set(id) { (fields) throws(SyncError) in
      for (name, value) in members { fields[name] = Array(value.utf8)[...] }
    }
  }

  /// Moves the slot from `old` to `new`, with a reading of `new`.
  private func move(_ world: PushWorld) async throws {
    world.clock.advance(by: .seconds(1))
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      try Self.set(Self.old, ["slot": "0"], in: &batch)
      try Self.set(Self.new, ["slot": "1"], in: &batch)
      try Self.set(Self.reading, ["meter": #""new""#], in: &batch)
    }
  }

  private func pending(_ world: PushWorld) async throws -> [PendingEdit] {
    try await world.engine.edits.waiting("meters") + world.engine.edits.waiting("readings")
  }

  private func refusals(_ world: PushWorld) -> [RecordID] {
    world.recorder.events.compactMap { if case .editRefused(let id, _) = $0 { id } else { nil } }
  }

  @Test func isSentInOneRequestWithAllItsTypes() async throws {
    let world = try await world()
    try await move(world)
    try await world.write("meters", "other")
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.accepted == 4 && pushed.pending == 0)
    #expect(world.batches.map(Set.init).contains(["old", "new", "r1"]))
    #expect(world.there()["new"] == #"{"slot":1}"# && world.there()["old"] == #"{"slot":0}"#)
    #expect(world.there("readings") == world.here("readings"))
  }

  /// What is left would be in both records, or in neither.
  @Test(arguments: [true, false])
  func isRefusedIfOneOfItsEditsIsForgotten(_ isType: Bool) async throws {
    let world = try await world()
    try await move(world)
    let forgotten =
      if isType { try await world.engine.forget(["readings"]) } else {
        try await world.engine.forget(records: [Self.old])
      }
    #expect(forgotten.map(\.id) == [isType ? Self.reading : Self.old])
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(world.there() == ["old": #"{"slot":1}"#] && world.there("readings").isEmpty)
    let left = try await pending(world)
    #expect(left.count == 2)
    #expect(left.allSatisfy { $0.kind == .change && $0.reason.contains("was forgotten") })
    for type in ["meters", "readings"] as [RecordType] { try await world.engine.edits.retry(type) }
    _ = try await world.engine.sync()
    #expect(try await pending(world).isEmpty && world.there()["new"] == #"{"slot":1}"#)
  }

  @Test func hasNoEffectIfOneOfItsEditsIsRefused() async throws {
    let world = try await world()
    world.remote.rule(.refused(reason: "no"), on: "readings", "r1")
    try await move(world)
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.accepted == 0 && pushed.refused == 1 && pushed.pending == 3)
    #expect(world.there() == ["old": #"{"slot":1}"#] && world.there("readings").isEmpty)
    let waits = try await pending(world).map(\.kind)
    #expect(waits == [.records, .records, .change])
    let requests = world.remote.pushCounters.requests
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.requests == requests, "a part of the group was sent")
    world.remote.rule(nil, on: "readings", "r1")
    try await world.engine.edits.retry("readings")
    #expect(try await world.engine.sync().pushed.accepted == 3)
    #expect(world.there() == world.here() && world.there("readings") == world.here("readings"))
  }

  @Test func goesOnTopOfAnotherDevicesChangeThatItWinsOver() async throws {
    let world = try await world()
    let other = try await self.world("b", beside: world)
    try await other.write("meters", "old", ["slot": "5"])
    try await move(world)
    _ = try await other.engine.sync()
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.conflicts == 1 && pushed.accepted == 3)
    #expect(world.there()["old"] == #"{"slot":0}"# && world.there()["new"] == #"{"slot":1}"#)
    #expect(world.batches.suffix(2).allSatisfy { Set($0) == ["old", "new", "r1"] })
  }

  @Test(arguments: [true, false]) func waitsForTheAppIfTheRemoteWinsOverOneOfItsEdits(
    inAPull isPull: Bool
  ) async throws {
    let world = try await world()
    let other = try await self.world("b", beside: world)
    try await move(world)
    try await other.write("meters", "old", ["slot": "5"])
    _ = try await other.engine.sync()
    _ = try await world.engine.sync(SyncRequest(direction: isPull ? .pull : .push))
    _ = try await world.engine.sync()
    #expect(world.there() == ["old": #"{"slot":5}"#], "a part of the group was sent")
    #expect(world.here()["old"] == #"{"slot":5}"# && world.here()["new"] == #"{"slot":1}"#)
    #expect(Set(refusals(world)) == [Self.new, Self.reading])
    #expect(try await pending(world).allSatisfy { $0.reason.contains("meters/old") })
    // Nor is it after an older change of the record, on which it is made anew, and after a deletion
    // that makes room for other refused edits.
    world.remote.upsert("meters", "new", #"{"name":2}"#, modifiedAt: Timestamp(milliseconds: 1))
    _ = try await world.engine.sync()
    #expect(world.there("readings").isEmpty)
    try await other.delete("meters", "old")
    _ = try await other.engine.sync()
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.there("readings").isEmpty)
    try await world.engine.edits.retry("meters")
    try await world.engine.edits.retry("readings")
    #expect(try await world.engine.sync().pushed.accepted == 2)
    #expect(world.there("readings") == world.here("readings"))
  }

  @Test(arguments: [Int.max, 1, 0]) func isSentAgainWholeAfterALostAnswer(applied: Int) async throws {
    let world = try await world()
    try await move(world)
    let lost = SyncError(.offline, during: "testing")
    world.remote.behave(.loseAnswer(afterApplying: applied, lost), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    #expect(world.there().count == (applied == .max ? 2 : 1))
    // Edits in between go after the group, together: they belong to it.
    try await world.write("meters", "old", ["name": "2"])
    #expect(try await world.engine.sync().pushed.pending == 0)
    #expect(world.hasOneEffectEach && world.there() == world.here())
    #expect(world.batches.suffix(2).map(Set.init) == [["old", "new", "r1"], ["old"]])
  }

  @Test(arguments: [true, false]) func grownDuringItsPushLetsTheNewEditsWait(areNewLast: Bool) async throws {
    let world = try await world()
    try await move(world)
    world.remote.behave(.fail(SyncError(.offline, during: "testing")), onNextPushes: 1)
    await #expect(throws: SyncError.self) { try await world.engine.push() }
    world.clock.advance(by: .seconds(1))
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      let third = RecordID(type: "meters", key: "third")
      if !areNewLast { try Self.set(third, ["slot": "1"], in: &batch) }
      try Self.set(Self.new, ["slot": "2"], in: &batch)
      if areNewLast { try Self.set(third, ["slot": "1"], in: &batch) }
    }
    #expect(try await world.engine.sync().pushed.pending == 0)
    #expect(world.batches.suffix(2).map(Set.init) == [["old", "new", "r1"], ["new", "third"]])
    #expect(world.there() == world.here())
  }

  /// Two meters that are one, of which a reading refers to the newer.
  private func worldOfDuplicates(_ json: String) async throws -> PushWorld {
    let meters = Entity("meters", naturalKey: NaturalKey("mac"))
    let world = try await PushWorld([meters, PushWorld.readings])
    for key in ["old", "new"] { world.remote.upsert("meters", key, json) }
    world.remote.upsert("readings", "r1", #"{"meter":"new"}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(1))
    return world
  }

  /// A rebuild deletes a record of the group for another one, which has inherited its edit.
  @Test(arguments: [true, false]) func hasTheWinnerInThePlaceOfALoser(isWinnerOfGroup: Bool) async throws {
    let world = try await worldOfDuplicates(#"{"mac":"1"}"#)
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      try Self.set(Self.old, ["slot": "1"], in: &batch)
      try Self.set(Self.reading, ["value": "1"], in: &batch)
      if isWinnerOfGroup { try Self.set(Self.new, ["name": "1"], in: &batch) }
    }
    if !isWinnerOfGroup { try await world.write("meters", "new", ["name": "1"]) }
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(try await pending(world).isEmpty)
    #expect(world.there() == world.here())
    #expect(world.there().keys.sorted() == ["new"])
    #expect(world.batches.map(Set.init).first == ["new", "r1"])
  }

  /// Another client has written a rebuild's winner later than the edit of a loser, which is lost.
  @Test func waitsForTheAppIfAWinnerKeepsWhatALosersEditSays() async throws {
    let world = try await worldOfDuplicates(#"{"mac":"1","slot":0}"#)
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      try Self.set(Self.old, ["slot": "1"], in: &batch)
      try Self.set(Self.reading, ["value": "1"], in: &batch)
    }
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "new", #"{"mac":"1","slot":2}"#)
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(try await world.engine.edits.conflicts().map(\.winner) == [.remote])
    #expect(world.there("readings") == ["r1": #"{"meter":"new"}"#], "a part of the group was sent")
    #expect(world.there() == ["new": #"{"mac":"1","slot":2}"#])
    #expect(refusals(world) == [Self.reading])
    try await world.engine.edits.retry("readings")
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(try await pending(world).isEmpty)
    #expect(world.there() == world.here() && world.there("readings") == world.here("readings"))
  }

  @Test func letsEditsThatReferToItsRecordsFollowInTheSamePush() async throws {
    let world = try await world()
    world.clock.advance(by: .seconds(1))
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      try Self.set(Self.new, ["slot": "1"], in: &batch)
      try batch.delete(Self.old)
    }
    try await world.write("readings", "r1", ["meter": #""new""#])
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.accepted == 3 && pushed.pending == 0)
    #expect(world.there() == ["new": #"{"slot":1}"#] && world.there("readings").count == 1)
  }

  @Test func isMadeAtOnceFromGroupsThatShareARecord() async throws {
    let world = try await world()
    let third = RecordID(type: "meters", key: "third")
    for (id, other) in [(Self.old, Self.new), (Self.new, third)] {
      world.clock.advance(by: .seconds(1))
      try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
        try Self.set(id, ["slot": "3"], in: &batch)
        try Self.set(other, ["slot": "4"], in: &batch)
      }
    }
    _ = try await world.engine.sync()
    #expect(world.batches.last.map(Set.init) == ["old", "new", "third"])
  }

  /// A push has read its edits, and then the app makes a group of them, or a larger one.
  @Test func isNotPreparedInPart() async throws {
    let world = try await world()
    let third = RecordID(type: "meters", key: "third")
    func prepared(_ ids: [RecordID], _ stage: PushPortion.Stage?) async throws -> Int {
      let preparation = PushPreparation(ids: ids, stage: stage, now: world.clock.timestamp)
      return try await world.store.write(.app) { (transaction) throws(SyncError) in
        try preparation.run(in: transaction).entries.count
      }
    }
    try await world.write("meters", "third", ["slot": "3"])
    #expect(try await prepared([third, Self.new], nil) == 0, "a group was sent that is over")
    try await move(world)
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      for id in [Self.new, third] { try Self.set(id, ["slot": "4"], in: &batch) }
    }
    #expect(try await prepared([third], .upserts) == 0)
    #expect(try await prepared([Self.old, Self.new, Self.reading], nil) == 0)
    #expect(try await prepared([Self.old, Self.new, Self.reading, third], nil) == 4)
    // While they are on their way, another one joins, and waits.
    let late = RecordID(type: "meters", key: "late")
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      for id in [Self.new, late] { try Self.set(id, ["slot": "5"], in: &batch) }
    }
    #expect(try await prepared([late], .upserts) == 0)
  }

  @Test func goesOnWithoutARecordThatTheAppMakesAndDeletes() async throws {
    let world = try await world()
    try await move(world)
    try await world.delete("readings", "r1")
    #expect(try await world.engine.sync().pushed.accepted == 2)
    #expect(world.there() == world.here() && world.batches.last.map(Set.init) == ["old", "new"])
  }

  @Test func isDiscardedWhole() async throws {
    let world = try await world()
    try await move(world)
    try await world.engine.edits.discard(Self.old)
    #expect(world.here() == ["old": #"{"slot":1}"#] && world.here("readings").isEmpty)
    #expect(try await pending(world).isEmpty)
    // The records are free again.
    try await world.write("meters", "old", ["slot": "2"])
    try await world.write("meters", "new", ["slot": "3"])
    #expect(try await world.engine.sync().pushed.accepted == 2)
  }

  /// Sent without that edit it would not be whole, and sent with it, a local record would leave the store.
  @Test(arguments: [true, false])
  func tellsThatItWaitsForAnEditOfATypeThatIsLocalByNow(isLocalLast: Bool) async throws {
    let world = try await PushWorld([PushWorld.meters, Entity("folders")])
    let folder = RecordID(type: "folders", key: "f")
    try await world.engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
      try Self.set(Self.new, ["slot": "1"], in: &batch)
      try Self.set(folder, ["name": "1"], in: &batch)
    }
    let (local, other) = isLocalLast ? (folder, Self.new) : (Self.new, folder)
    let entities = { (access: Entity.Access) in
      ["meters", "folders"].map { Entity($0, access: $0 == local.type ? access : .readWrite) }
    }
    func made(_ access: Entity.Access) async throws -> SyncEngine {
      try await SyncEngine(
        schema: SyncSchema(entities(access)), store: world.store, source: world.remote, sink: world.remote,
        clock: world.clock)
    }
    let engine = try await made(.local)
    for _ in 1...2 { _ = try await engine.sync() }
    #expect(world.there().isEmpty && world.there("folders").isEmpty)
    #expect(world.here().count == 1 && world.here("folders").count == 1)
    let waiting = try await engine.edits.waiting(other.type)
    #expect(waiting.map(\.kind) == [.records] && waiting.allSatisfy { !$0.isSentWithNextPush })
    guard case .records([local], _)? = waiting.first?.wait else {
      Issue.record("\(waiting.map(\.wait))")
      return
    }
    _ = try await made(.readWrite).sync()
    #expect(world.there() == ["new": #"{"slot":1}"#] && world.there("folders") == ["f": #"{"name":1}"#])
  }

  @Test func isRefusedAtOnceWithoutARemoteThatAppliesGroups() async throws {
    let worlds = [
      try await world(configure: { $0.appliesGroups = false }),
      try await world(sink: { RewritingSink(base: $0) { _ in } }),
    ]
    for world in worlds {
      await #expect(
        performing: { try await move(world) }, throws: PushWorld.isCode(.invalidConfiguration))
      #expect(world.here() == ["old": #"{"slot":1}"#])
    }
  }

  @Test func isRefusedIfTheRemoteDoesNotTakeItAtOnce() async throws {
    let world = try await world(configure: { $0.pushLimits.maximumRecords = 2 })
    try await move(world)
    #expect(try await world.engine.sync().pushed.refused == 3)
    #expect(world.there() == ["old": #"{"slot":1}"#])
    #expect(try await pending(world).allSatisfy { $0.reason.contains("3 edits") })
  }

  @Test func isIsolatedWholeIfTheRemoteFailsAtIt() async throws {
    let world = try await world(sink: { ChokingOnGroups(base: $0) })
    try await move(world)
    try await world.write("meters", "other")
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.accepted == 1)
    #expect(world.there().keys.sorted() == ["old", "other"] && world.there()["old"] == #"{"slot":1}"#)
    #expect(try await pending(world).count == 3)
    #expect(try await pending(world).allSatisfy { $0.entry.state != .waiting })
  }

  /// A remote whose gateway fails at groups.
  private struct ChokingOnGroups: RemoteRecordSink {
    let base: InMemoryRemote
    var identity: String { base.identity }
    var keepsUnknownMembers: Bool { true }
    var appliesGroups: Bool { true }

    func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] { try await base.push(changes, entities: entities) }

    func push(
      atomically changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      throw SyncError(.invalidResponse, during: "testing", "The gateway does not understand.")
    }
  }

  @Test func isForgottenWithTheAccount() async throws {
    let world = try await world()
    try await move(world)
    #expect(try await SyncEngine.forgetEverything(in: world.store).count == 3)
    _ = try await world.engine.sync()
    try await world.write("meters", "old", ["slot": "2"])
    try await world.write("meters", "new", ["slot": "3"])
    _ = try await world.engine.sync()
    #expect(world.batches.suffix(1).allSatisfy { $0.count == 2 } && world.there() == world.here())
  }
}
