import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A record whose target another device deletes", .timeLimit(.minutes(10)))
struct TargetDeletionTests {
  private static func entities(_ rule: Reference.DeletionRule) -> [Entity] {
    [PushWorld.meters, Entity("readings", references: [.to("meters", by: "meter", onDeletion: rule)])]
  }

  /// Two devices that both have a meter and its reading.
  private func devices(_ rule: Reference.DeletionRule) async throws -> [PushWorld] {
    let one = try await PushWorld(Self.entities(rule))
    try await one.write("meters", "m")
    try await one.write("readings", "r1", ["meter": #""m""#])
    _ = try await one.engine.sync()
    let two = try await PushWorld(Self.entities(rule), name: "b", beside: one)
    _ = try await two.engine.sync()
    return [one, two]
  }

  private func view(_ world: PushWorld) -> String {
    "\(world.here().keys.sorted()) \(world.here("readings").keys.sorted())"
  }

  /// One device deletes the meter with its reading, and the other one adds a reading meanwhile.
  @Test(arguments: Reference.DeletionRule.allCases, [true, false])
  func isSeenAlikeByAllDevices(_ rule: Reference.DeletionRule, isDeletedFirst: Bool) async throws {
    let devices = try await devices(rule)
    try await devices[0].delete("readings", "r1")
    try await devices[0].delete("meters", "m")
    try await devices[1].write("readings", "r2", ["meter": #""m""#])
    for _ in 0..<4 {
      for device in isDeletedFirst ? devices : devices.reversed() {
        _ = try await device.engine.sync()
        devices[0].clock.advance(by: .seconds(1))
      }
    }
    let new = try await PushWorld(Self.entities(rule), name: "c", beside: devices[0])
    _ = try await new.engine.sync()
    let expected =
      switch rule {
      case .restoresTarget: #"["m"] ["r2"]"#
      case .clearsReference: #"[] ["r2"]"#
      case .deletesReferrers: "[] []"
      case .keepsTarget: ""
      }
    if rule == .keepsTarget {
      #expect(view(devices[1]) == #"["m"] ["r2"]"#)
      #expect(view(new) == "[] []")
    } else {
      for device in devices + [new] { #expect(view(device) == expected) }
      for device in devices {
        #expect(try await device.engine.status().allSatisfy { $0.withheld.isEmpty && $0.pending == 0 })
      }
    }
    let told = devices[1].recorder.events.compactMap { event -> Reference.DeletionRule? in
      guard case .targetDeleted(RecordID(type: "meters", key: "m"), let rule, let referrers) = event else {
        return nil
      }
      #expect(referrers == [RecordID(type: "readings", key: "r2")])
      return rule
    }
    #expect(told == (rule == .keepsTarget ? [] : [rule]))
  }

  /// A bookmark that stays in one store is no reason to bring a record back for all.
  @Test(arguments: Reference.DeletionRule.allCases, [true, false])
  func isNotRestoredForARecordOfThisStoreAlone(_ rule: Reference.DeletionRule, isDraft: Bool) async throws {
    let marks = Entity(
      "marks", references: [.to("meters", by: "meter", onDeletion: rule)],
      access: isDraft ? .readWrite : .local)
    let world = try await PushWorld([PushWorld.meters, marks])
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    _ = try await world.engine.sync()
    try await world.write("marks", "k", ["meter": #""m""#])
    if isDraft { try await world.engine.edits.hold(RecordID(type: "marks", key: "k")) }
    world.remote.delete("meters", "m")
    for _ in 0..<4 {
      _ = try await world.engine.sync()
      world.clock.advance(by: .seconds(1))
    }
    #expect(world.there().isEmpty && world.remote.pushCounters.effects == 0)
    switch rule {
    case .keepsTarget, .restoresTarget:
      #expect(world.here().count == 1 && world.here("marks") == ["k": #"{"meter":"m"}"#])
      try await world.delete("marks", "k")
      _ = try await world.engine.sync()
    case .clearsReference: #expect(world.here("marks") == ["k": #"{"meter":null}"#])
    case .deletesReferrers: #expect(world.here("marks").isEmpty)
    }
    #expect(world.here().isEmpty)
  }

  /// Two of the deleted records refer to each other, and a third one to one of them.
  @Test func isRestoredWithTheDeletedRecordThatRefersToIt() async throws {
    let world = try await PushWorld()
    for (key, parent) in [("a", "b"), ("b", "a"), ("c", "a")] {
      world.remote.upsert("folders", key, #"{"id":"\#(key)","parent":"\#(parent)"}"#)
    }
    _ = try await world.engine.sync()
    #expect(world.here("folders").count == 3)
    world.clock.advance(by: .seconds(1))
    for key in ["a", "b"] { world.remote.delete("folders", key) }
    for _ in 0..<4 {
      _ = try await world.engine.sync()
      world.clock.advance(by: .seconds(1))
    }
    #expect(world.there("folders").keys.sorted() == ["a", "b", "c"])
    #expect(try await world.engine.status().allSatisfy { $0.withheld.isEmpty && $0.pending == 0 })
  }

  @Test func staysWhereItIsADefaultAndDeletedOnceMoreBeforeItsRestorationArrives() async throws {
    let world = try await PushWorld(Self.entities(.restoresTarget))
    let (remote, id) = (world.remote, RecordID(type: "meters", key: "m"))
    remote.upsert("readings", "r1", #"{"meter":"m"}"#)
    remote.delete("meters", "m")
    let pushes = Mutex(0)
    remote.onPush = { _ in
      let number = pushes.withLock { pushes in
        pushes += 1
        return pushes
      }
      if number == 2 { remote.delete("meters", "m") }
    }
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      var fields = FieldMap()
      fields["name"] = Array("1".utf8)[...]
      _ = try batch.seed(id, fields)
    }
    _ = try await world.engine.sync()
    for _ in 0..<4 {
      world.clock.advance(by: .seconds(1))
      _ = try await world.engine.sync()
      #expect(view(world) == #"["m"] ["r1"]"#)
    }
    #expect(pushes.withLock { $0 } == 3)
    #expect(world.there().keys.sorted() == ["m"])
    #expect(try await world.engine.status().allSatisfy { $0.withheld.isEmpty && $0.pending == 0 })
  }

  /// The end of the reference may come with the next sync.
  @Test func waitsForTheNextSync() async throws {
    let devices = try await devices(.restoresTarget)
    devices[0].remote.delete("meters", "m")
    _ = try await devices[0].engine.sync()
    #expect(view(devices[0]) == #"["m"] ["r1"]"#)
    devices[0].remote.delete("readings", "r1")
    _ = try await devices[0].engine.sync()
    #expect(view(devices[0]) == "[] []")
    #expect(devices[0].there().isEmpty)
  }

  @Test func isLeftAloneWithoutASink() async throws {
    let devices = try await devices(.restoresTarget)
    let engine = try await SyncEngine(
      schema: SyncSchema(Self.entities(.deletesReferrers)), store: devices[0].store,
      source: devices[0].remote,
      clock: devices[0].clock)
    devices[0].remote.delete("meters", "m")
    for _ in 0..<3 { _ = try await engine.sync() }
    #expect(view(devices[0]) == #"["m"] ["r1"]"#)
  }

  /// What a clean-up has hidden is still at the remote.
  @Test(arguments: [false, true]) func staysIfOthersReferToItInTurn(isHidden: Bool) async throws {
    let entities =
      Self.entities(.deletesReferrers) + [
        Entity("folders", references: [.to("readings", by: "reading", onDeletion: .keepsTarget)])
      ]
    let world = try await PushWorld(entities)
    try await world.write("meters", "m")
    try await world.write("readings", "r1", ["meter": #""m""#])
    try await world.write("folders", "f", ["reading": #""r1""#, "date": #""2020-01-01""#])
    _ = try await world.engine.sync()
    if isHidden {
      let policy = CleanupPolicy([.hide("folders", olderThan: .seconds(86_400), by: .date("date"))])
      #expect(try await world.engine.cleanUp(policy).hidden == ["folders": 1])
    }
    world.remote.delete("meters", "m")
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.here().count == 1 && world.here("readings").count == 1)
    #expect(world.there().keys.sorted() == ["m"])
    #expect(try await world.engine.status().allSatisfy { ($0.withheld[.held] ?? 0) == 0 && $0.pending == 0 })
  }

  /// The one that others refer to comes after more than are deleted at once.
  @Test func staysWithAllIfOthersReferToOneOfMany() async throws {
    let entities =
      Self.entities(.deletesReferrers) + [
        Entity("folders", references: [.to("readings", by: "reading", onDeletion: .keepsTarget)])
      ]
    let world = try await PushWorld(entities)
    world.remote.upsert("meters", "m", #"{"name":"1"}"#)
    for number in 0..<1100 { world.remote.upsert("readings", "r\(number)", #"{"meter":"m"}"#) }
    world.remote.upsert("folders", "f", #"{"reading":"r999"}"#)
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m")
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["m"] && world.there("readings").count == 1100)
    #expect(world.here("readings").count == 1100)
  }

  @Test func staysIfAnImmutableFieldRefersToIt() async throws {
    let entities = [
      PushWorld.meters,
      Entity(
        "readings", references: [.to("meters", by: "meter", onDeletion: .clearsReference)],
        immutable: ["meter"]),
    ]
    let world = try await PushWorld(entities)
    try await world.write("meters", "m")
    try await world.write("readings", "r1", ["meter": #""m""#])
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m")
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(view(world) == #"["m"] ["r1"]"#)
    #expect(world.there().keys.sorted() == ["m"])
    #expect(try await world.engine.status().allSatisfy { $0.withheld.isEmpty && $0.pending == 0 })
    let told = world.recorder.events.filter { if case .targetDeleted = $0 { true } else { false } }
    #expect(told.count == 1)
  }

  @Test(arguments: [
    (Reference.DeletionRule.restoresTarget, 1, 1500), (.clearsReference, 0, 1500), (.deletesReferrers, 0, 0),
  ])
  func mayHaveAnyNumberOfReferrers(
    _ rule: Reference.DeletionRule, meters: Int, readings: Int
  ) async throws {
    let world = try await PushWorld(Self.entities(rule))
    world.remote.upsert("meters", "m", #"{"name":"1"}"#)
    for number in 0..<1500 { world.remote.upsert("readings", "r\(number)", #"{"meter":"m"}"#) }
    _ = try await world.engine.sync()
    world.remote.delete("meters", "m")
    for _ in 0..<4 {
      world.clock.advance(by: .seconds(1))
      _ = try await world.engine.sync()
    }
    let new = try await PushWorld(Self.entities(rule), name: "b", beside: world)
    _ = try await new.engine.sync()
    for device in [world, new] {
      #expect(device.here().count == meters && device.here("readings").count == readings)
      #expect(try await device.engine.status().allSatisfy { $0.withheld.isEmpty && $0.pending == 0 })
    }
  }
}
