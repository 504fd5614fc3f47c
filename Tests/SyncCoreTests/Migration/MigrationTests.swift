import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Legacy settings", .timeLimit(.minutes(10)))
struct MigrationTests {
  private static let meters = Entity(
    "meters", references: [.to("rooms", by: "room")],
    naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric))
  private static let entities = [Entity("rooms"), meters]

  private static let settings = [
    "names": ["AA:01": #""Boiler""#, "AA:02": #""Fridge""#, "AA:03": #""Lamp""#],
    "colours": ["AA:01": "7", "AA:04": "null"],
    "rooms": ["AA:02": #""kitchen""#, "AA:05": #""nowhere""#],
    "others": ["AA:09": "1"],
  ]

  private static func migration(
    _ existing: LegacyMigration.Existing = .fillGaps, recordsAtOnce: Int = 200
  ) -> LegacyMigration {
    LegacyMigration(
      "meters-2", to: "meters", keyField: "mac",
      fields: ["names": "name", "colours": "colour", "rooms": "room"], existing: existing,
      recordsAtOnce: recordsAtOnce)
  }

  private func world(_ store: InMemoryStore? = nil) async throws -> World {
    let world = try await World(Self.entities, store: store)
    world.remote.upsert("rooms", "kitchen", "{\"id\":\"kitchen\"}")
    world.remote.upsert("meters", "m2", #"{"id":"m2","mac":"aa02","name":"Cooler","colour":null}"#)
    _ = try await world.engine.sync()
    return world
  }

  private func texts(_ world: World) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: world.store.records(of: "meters").map {
        ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
      })
  }

  @Test func becomeRecordsThatThePushTellsTheRemote() async throws {
    let world = try await world()
    let settings = InMemoryLegacySettings(Self.settings)
    let report = try await world.engine.migrate(settings, by: Self.migration())
    #expect(
      texts(world) == [
        "AA:01": #"{"mac":"AA:01","colour":7,"name":"Boiler"}"#,
        // It has the natural key of an existing record, which keeps its own values.
        "m2": #"{"id":"m2","mac":"aa02","name":"Cooler","colour":null,"room":"kitchen"}"#,
        "AA:03": #"{"mac":"AA:03","name":"Lamp"}"#,
        "AA:04": #"{"mac":"AA:04","colour":null}"#,
      ])
    #expect(report.counts.inserted == 3)
    #expect(report.counts.merged == 1)
    #expect(report.counts.refused == 1)
    #expect(report.refusals.keys.sorted() == ["AA:05"])
    let pending = try await world.engine.edits.pending("meters").map(\.id.key)
    #expect(pending == ["AA:01", "AA:03", "AA:04", "m2"])
    #expect(settings.dictionaries == Self.settings)
  }

  @Test func areReadOnce() async throws {
    let world = try await world()
    let settings = InMemoryLegacySettings(Self.settings)
    _ = try await world.engine.migrate(settings, by: Self.migration())
    let reads = settings.reads
    #expect(reads == 3)
    try await world.engine.edits.delete(RecordID(type: "meters", key: "AA:03"))
    let second = try await self.world(world.store).engine.migrate(settings, by: Self.migration())
    #expect(second.wasDone)
    #expect(settings.reads == reads)
    #expect(!texts(world).keys.contains("AA:03"))
  }

  @Test(
    arguments: [
      (.keep, #"{"id":"m2","mac":"aa02","name":"Cooler","colour":null}"#),
      (.overwrite, #"{"id":"m2","mac":"aa02","name":"Fridge","colour":null,"room":"kitchen"}"#),
    ] as [(LegacyMigration.Existing, String)])
  func meetRecordsAsTheAppSays(_ existing: LegacyMigration.Existing, _ text: String) async throws {
    let world = try await world()
    _ = try await world.engine.migrate(InMemoryLegacySettings(Self.settings), by: Self.migration(existing))
    #expect(texts(world)["m2"] == text)
  }

  @Test func thatAreNoJSONArePassedOver() async throws {
    let world = try await world()
    let settings = InMemoryLegacySettings(["names": ["a": "oops", "b": #""B""#]])
    let report = try await world.engine.migrate(settings, by: Self.migration())
    #expect(report.counts.refused == 1)
    #expect(report.counts.inserted == 1)
    #expect(texts(world)["b"] == #"{"mac":"b","name":"B"}"#)
  }

  @Test func thatCannotBeReadAreTriedAgain() async throws {
    let world = try await world()
    let settings = InMemoryLegacySettings(Self.settings)
    settings.failure = SyncError(.storeUnreadable, during: "reading settings")
    await #expect(throws: SyncError.self) { try await world.engine.migrate(settings, by: Self.migration()) }
    settings.failure = nil
    #expect(try await world.engine.migrate(settings, by: Self.migration()).counts.inserted == 3)
  }

  @Test(arguments: FaultyStore.Moment.allCases, 1...8)
  func areGoneOnWithAfterACrash(_ moment: FaultyStore.Moment, _ call: Int) async throws {
    let world = try await world()
    // The engine's setup makes the first two calls.
    let store = FaultyStore(world.store, failingCall: call + 2, moment)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock,
      random: RepeatedNumber())
    let settings = InMemoryLegacySettings(Self.settings)
    let migration = Self.migration(recordsAtOnce: 1)
    do throws(SyncError) {
      _ = try await engine.migrate(settings, by: migration)
      #expect(call + 2 > store.callCount)
    } catch {
      #expect(error.code == .storeFailure)
    }
    let stamps = try await world.engine.edits.pending("meters").map(\.edit.stamp)
    let report = try await world.engine.migrate(settings, by: migration)
    #expect(report.wasDone || report.counts.inserted == 3 && report.counts.merged == 1)
    let pending = try await world.engine.edits.pending("meters")
    #expect(pending.map(\.id.key) == ["AA:01", "AA:03", "AA:04", "m2"])
    // Completed work is not repeated.
    #expect(Set(stamps).isSubset(of: pending.map(\.edit.stamp)))
  }

  @Test func ofATypeThatIsNotDeclaredAreRefused() async throws {
    let world = try await world()
    do throws(SyncError) {
      _ = try await world.engine.migrate(
        InMemoryLegacySettings(), by: LegacyMigration("x", to: "strangers", fields: [:]))
      Issue.record("It did not throw.")
    } catch {
      #expect(error.code == .invalidConfiguration)
    }
  }
}
