import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Rebuilding duplicates")
struct RebuildTests {
  @Test func keepsTheRecordThatWasWrittenLastAndDeletesTheOthersThroughTheOutbox() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "AA:BB:0C", at: 1)
    world.meter("b", mac: "aabb0c", at: 3)
    world.meter("c", mac: "AA-BB-0C", at: 2)
    world.meter("d", mac: "aa:bb:0d", at: 1)
    _ = try await world.engine.sync()
    let before = world.text("meters", "b")
    let report = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.keys() == ["b", "d"])
    #expect(world.text("meters", "b") == before)
    #expect(try await world.outbox() == ["-meters/c", "-meters/a"])
    #expect(report.counts.groups == 1)
    #expect(report.counts.losers == 2)
    #expect((report.recordsBefore, report.recordsAfter) == (4, 2))
    let entries = try await world.engine.edits.pending("meters")
    let bases = entries.compactMap(\.base.version?.modifiedAt)
    #expect(bases.map { $0.duration(since: MeterWorld.day) } == [.seconds(2), .seconds(1)])
  }

  @Test func comparesPendingEditsByTheirStampsAndOthersByTheirStampField() async throws {
    let world = try await MeterWorld([
      Entity("meters", naturalKey: NaturalKey("mac"), stampField: "edited")
    ])
    world.meter("a", mac: "1", at: 50, #","edited":"\#(EditStamp(physical: Timestamp(milliseconds: 1)))""#)
    world.meter("b", mac: "1", at: 10, #","edited":"\#(EditStamp(physical: Timestamp(milliseconds: 2)))""#)
    world.meter("c", mac: "2", at: 50)
    world.meter("d", mac: "2", at: 10)
    _ = try await world.engine.sync()
    world.world.clock.advance(by: .seconds(100))
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "d")) { $0["name"] = Array("1".utf8)[...] }
    }
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.keys() == ["b", "d"])
  }

  @Test func breaksTiesById() async throws {
    let world = try await MeterWorld()
    for key in ["c", "a", "b"] { world.meter(key, mac: "1", at: 1) }
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.keys() == ["a"])
  }

  @Test func letsNullAndMissingKeysMatchNothing() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: nil)
    world.meter("b", mac: nil)
    world.remote.upsert("meters", "c", #"{"id":"c"}"#)
    world.remote.upsert("meters", "d", #"{"id":"d"}"#)
    world.meter("e", mac: "-:-")
    world.meter("f", mac: "-:-")
    _ = try await world.engine.sync()
    let report = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.keys() == ["a", "b", "c", "d", "e", "f"])
    #expect(report.counts == RebuildReport.Counts())
    #expect(try await world.outbox() == [])
  }

  @Test func repointsReferencesBeforeItDeletes() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    world.meter("b", mac: "1", at: 2)
    world.meter("c", mac: "2", at: 1, #","parent":"a""#)
    world.reading("r1", meter: "a", spare: "a")
    world.reading("r2", meter: "b", spare: "a")
    world.reading("r3", meter: "c")
    _ = try await world.engine.sync()
    let report = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.text("readings", "r1") == #"{"id":"r1","meter":"b","spare":"b"}"#)
    #expect(world.text("readings", "r2") == #"{"id":"r2","meter":"b","spare":"b"}"#)
    #expect(world.text("readings", "r3") == #"{"id":"r3","meter":"c"}"#)
    #expect(world.text("meters", "c") == #"{"id":"c","mac":"2","parent":"b"}"#)
    #expect(try await world.outbox() == ["+meters/c", "+readings/r1", "+readings/r2", "-meters/a"])
    #expect(report.counts.repointed == 4)
  }

  @Test func repointsMoreReferencesThanATransactionTakes() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    world.meter("b", mac: "1", at: 2)
    for number in 1...25 { world.reading("r\(number)", meter: "a") }
    _ = try await world.engine.sync()
    let counter = FaultyStore(world.store)
    let report = try await engine(of: world, on: counter).rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(recordsAtOnce: 4))
    #expect(world.store.records(of: "readings").allSatisfy { $0.fields.first == "b" })
    #expect(world.keys() == ["b"])
    #expect(report.counts.repointed == 25)
    #expect(try await world.outbox().last == "-meters/a")
    #expect(try await world.outbox().count == 26)
  }

  @Test func keepsAWholeNumberANumber() async throws {
    let world = try await MeterWorld()
    world.meter("1", mac: "1", at: 1)
    world.meter("2", mac: "1", at: 2)
    world.remote.upsert("readings", "r", #"{"id":"r","meter":1,"spare":"1"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.text("readings", "r") == #"{"id":"r","meter":2,"spare":"2"}"#)
  }

  @Test func carriesOverWhatOnlyLosersHadIfAsked() async throws {
    for (choice, expected) in [
      (.nothing, #"{"id":"c","mac":"1","name":"C","icon":null}"#),
      (.everyField, #"{"id":"c","mac":"1","name":"C","icon":"b","colour":"a","room":"b"}"#),
      (.fields(["icon", "name"]), #"{"id":"c","mac":"1","name":"C","icon":"b"}"#),
    ] as [(RebuildOptions.CarryOver, String)] {
      let world = try await MeterWorld()
      world.meter("a", mac: "1", at: 1, #","name":"A","icon":"a","colour":"a","room":"a""#)
      world.meter("b", mac: "1", at: 2, #","name":"B","icon":"b","colour":null,"room":"b""#)
      world.meter("c", mac: "1", at: 3, #","name":"C","icon":null"#)
      _ = try await world.engine.sync()
      let report = try await world.engine.rebuildDuplicates(
        of: "meters", version: 1, options: RebuildOptions(carriesOver: choice))
      let kept = try #require(world.store.records(of: "meters").first)
      #expect(world.keys() == ["c"])
      #expect(kept.payload.hasSameMembers(as: Payload(Array(expected.utf8))))
      let outbox = try await world.outbox()
      #expect(outbox == (choice == .nothing ? [] : ["+meters/c"]) + ["-meters/b", "-meters/a"])
      #expect(report.counts.carriedOver == (choice == .nothing ? 0 : choice == .everyField ? 3 : 1))
    }
  }

  @Test func carriesNoReferenceOverThatWouldNameTheWinnerItself() async throws {
    let world = try await MeterWorld()
    world.meter("b", mac: "1", at: 3)
    world.meter("a", mac: "1", at: 1, #","parent":"b""#)
    world.meter("d", mac: "2", at: 3)
    world.meter("c", mac: "2", at: 1, #","parent":"a""#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    #expect(world.text("meters", "b") == #"{"id":"b","mac":"1"}"#)
    #expect(world.text("meters", "d") == #"{"id":"d","mac":"2","parent":"b"}"#)
  }

  @Test func runsOncePerVersion() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    world.meter("b", mac: "1", at: 2)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 2)
    let outbox = try await world.engine.edits.pending("meters")
    world.world.clock.advance(by: .seconds(100))
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "c")) { $0["mac"] = Array(#""1""#.utf8)[...] }
    }
    for version in 1...2 {
      let again = try await world.engine.rebuildDuplicates(of: "meters", version: version)
      #expect(again.wasDone)
      #expect(again.counts == RebuildReport.Counts())
    }
    #expect(world.keys() == ["b", "c"])
    #expect(try await world.engine.edits.pending("meters").first == outbox.first)
    let next = try await world.engine.rebuildDuplicates(of: "meters", version: 3)
    #expect(next.counts.losers == 1)
    #expect(world.keys() == ["c"])
  }

  @Test func tellsWhatItWouldDoAndDoesNothing() async throws {
    let world = try await MeterWorld()
    for number in 1...9 { world.meter("m\(number)", mac: "\(number % 3)", at: Int64(number)) }
    for number in 1...9 { world.reading("r\(number)", meter: "m\(number)", spare: "m1") }
    world.meter("x", mac: "0", at: 0, #","name":"X""#)
    _ = try await world.engine.sync()
    let options = RebuildOptions(carriesOver: .everyField, recordsAtOnce: 2)
    var would = try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: options, dryRun: true)
    #expect(world.keys().count == 10)
    #expect(try await world.outbox() == [])
    #expect(would.isDryRun)
    #expect(would.counts.losers == 7)
    #expect(would.counts.repointed == 15)
    #expect(would.counts.carriedOver == 1)
    would.isDryRun = false
    #expect(try await world.engine.rebuildDuplicates(of: "meters", version: 1, options: options) == would)
  }

  @Test func refusesTypesWithoutNaturalKeyAndTypesNeverPulled() async throws {
    let world = try await MeterWorld()
    await #expect(throws: SyncError.self) {
      try await world.engine.rebuildDuplicates(of: "readings", version: 1)
    }
    for type in ["readings", "strangers"] as [RecordType] {
      do throws(SyncError) {
        try await world.engine.rebuildDuplicates(of: type, version: 1)
        Issue.record("It did not throw.")
      } catch {
        #expect(error.code == .invalidConfiguration)
      }
    }
    do throws(SyncError) {
      _ = try await world.engine.sync(SyncRequest(types: ["meters"]))
      try await world.engine.rebuildDuplicates(of: "meters", version: 1)
      Issue.record("It did not throw.")
    } catch {
      // Readings may refer to a loser.
      #expect(error.code == .pullIncomplete)
    }
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
  }

  @Test func isRefusedWhileASyncRuns() async throws {
    let world = try await MeterWorld()
    _ = try await world.engine.sync()
    let lease = try await world.store.acquireLease(for: .seconds(10))
    do throws(SyncError) {
      try await world.engine.rebuildDuplicates(of: "meters", version: 1)
      Issue.record("It did not throw.")
    } catch {
      #expect(error.code == .syncAlreadyInProgress)
    }
    try await world.store.release(lease)
  }

  func engine(of world: MeterWorld, on store: any LocalStore) async throws(SyncError) -> SyncEngine {
    try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.world.clock,
      random: RepeatedNumber())
  }
}
