import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A rebuild that is interrupted", .timeLimit(.minutes(10)))
struct RebuildFaultTests {
  /// More calls of the store than the rebuild below makes, as a test checks.
  static let calls = 1...60

  static let options = RebuildOptions(carriesOver: .everyField, recordsAtOnce: 4)

  /// The visible records and the pending edits, regardless of the order of batches.
  struct End: Equatable {
    var meters: [String]
    var readings: [String]
    var outbox: [String]
  }

  @Test(arguments: FaultyStore.Moment.allCases, calls)
  func endsAsOneThatWasNot(_ moment: FaultyStore.Moment, _ call: Int) async throws {
    let calm = try await pulled()
    try await calm.engine.rebuildDuplicates(of: "meters", version: 1, options: Self.options)
    let world = try await pulled()
    let store = FaultyStore(world.store, failingCall: call, moment)
    do throws(SyncError) {
      try await engine(of: world, on: store).rebuildDuplicates(
        of: "meters", version: 1, options: Self.options)
    } catch {
      #expect(error.code == .storeFailure)
    }
    world.world.clock.advance(by: .seconds(60))
    let report = try await world.engine.rebuildDuplicates(of: "meters", version: 1, options: Self.options)
    #expect(try await end(of: world) == end(of: calm))
    #expect(report.wasDone || report.counts.losers == 14)
    #expect(try await world.engine.rebuildDuplicates(of: "meters", version: 1).wasDone)
  }

  @Test func isSweptOverEveryCallThatItMakes() async throws {
    let world = try await pulled()
    let store = FaultyStore(world.store)
    try await engine(of: world, on: store).rebuildDuplicates(of: "meters", version: 1, options: Self.options)
    #expect(Self.calls.contains(store.callCount))
    #expect(store.callCount > 15)
  }

  @Test func goesOnWhereItWasCancelled() async throws {
    let world = try await pulled()
    let token = FlagToken()
    let store = FaultyStore(world.store) { token.isCancelled = true }
    let first = try await engine(of: world, on: store).rebuildDuplicates(
      of: "meters", version: 1, options: Self.options, token: token)
    #expect(first.wasCancelled)
    #expect(first.counts.losers < 14)
    let second = try await world.engine.rebuildDuplicates(of: "meters", version: 1, options: Self.options)
    #expect(!second.wasCancelled)
    #expect(second.counts.losers == 14)
    #expect(second.recordsBefore == 20)
  }

  @Test func electsAgainAmongWhatIsThereWhenItsTurnComes() async throws {
    let world = try await pulled()
    let (engine, clock) = (world.engine, world.world.clock)
    // Between the search for groups and the merge of the first batch, the app edits two groups and
    // dissolves one.
    let store = InterruptedStore(world.store) { () async throws(SyncError) in
      clock.advance(by: .seconds(100))
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.delete(RecordID(type: "readings", key: "r20"))
        try batch.set(RecordID(type: "meters", key: "m1")) { $0["name"] = Array("1".utf8)[...] }
        try batch.delete(RecordID(type: "meters", key: "m20"))
        try batch.set(RecordID(type: "meters", key: "m2")) { $0["mac"] = Array(#""other""#.utf8)[...] }
      }
    }
    let report = try await self.engine(of: world, on: store).rebuildDuplicates(of: "meters", version: 1)
    // m1 wins its group by the later edit. m14 wins over m8 without m20, and m2 is alone with its
    // new address.
    #expect(world.keys() == ["m1", "m14", "m15", "m16", "m17", "m18", "m2"])
    #expect(report.counts.groups == 6)
    #expect(report.counts.losers == 12)
  }

  @Test func leavesAGroupThatIsNoneAnyMoreWhenItsTurnComes() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    world.meter("b", mac: "1", at: 2)
    _ = try await world.engine.sync()
    let edits = world.engine.edits
    let store = InterruptedStore(world.store) { () async throws(SyncError) in
      try await edits.delete(RecordID(type: "meters", key: "b"))
    }
    let report = try await engine(of: world, on: store).rebuildDuplicates(of: "meters", version: 1)
    #expect(report.counts.aborted == 1)
    #expect((report.counts.groups, report.counts.losers) == (0, 0))
    #expect(world.keys() == ["a"])
    #expect(try await world.outbox() == ["-meters/b"])
  }

  @Test func leavesGroupsAloneThatTheRemoteHasSomethingNewerOf() async throws {
    let world = try await pulled()
    world.meter("m3", mac: "other", at: 100, #","parent":"nowhere""#)
    _ = try await world.engine.sync()
    let first = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(first.counts.postponed == 1)
    #expect(world.keys().contains("m3"))
    world.meter("nowhere", mac: "nowhere")
    _ = try await world.engine.sync()
    let second = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(!second.wasDone)
    #expect(second.counts.postponed == 0)
    #expect(world.keys() == ["m15", "m16", "m17", "m18", "m19", "m20", "m3", "nowhere"])
    #expect(try await world.engine.rebuildDuplicates(of: "meters", version: 1).wasDone)
  }

  @Test func carriesOutDeletionsOfLosersThatTheRemoteMadeAndThatWereHeld() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 2)
    world.meter("b", mac: "1", at: 1)
    world.reading("r", meter: "a")
    _ = try await world.engine.sync()
    world.remote.delete("meters", "a")
    _ = try await world.engine.sync()
    #expect(world.keys() == ["a", "b"])
    let report = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.keys() == ["b"])
    #expect(try await world.outbox() == ["+readings/r"])
    #expect(report.counts.losers == 1)
    #expect(try await world.engine.status()[0].withheld.isEmpty)
  }

  /// Twenty meters of six addresses, four with references to each other, and their readings.
  private func pulled() async throws -> MeterWorld {
    let world = try await MeterWorld()
    for number in 1...20 {
      let parent = number % 5 == 0 && number > 5 ? #","parent":"m\#(number - 5)""# : ""
      let own = #","own\#(number % 2)":\#(number)"#
      world.meter("m\(number)", mac: "\(number % 6)", at: Int64(number), parent + own)
      world.reading("r\(number)", meter: "m\(number)", spare: "m\(21 - number)")
    }
    _ = try await world.engine.sync()
    return world
  }

  private func end(of world: MeterWorld) async throws -> End {
    let text = { (type: RecordType) in
      world.store.records(of: type).map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    }
    return End(
      meters: text("meters"), readings: text("readings"), outbox: try await world.outbox().sorted())
  }

  private func engine(of world: MeterWorld, on store: any LocalStore) async throws(SyncError) -> SyncEngine {
    try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.world.clock,
      random: RepeatedNumber())
  }
}
