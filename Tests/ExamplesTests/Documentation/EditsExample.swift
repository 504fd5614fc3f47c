#if SQLite
  import CanonicalSync
  import SyncAdapters
  import InMemoryAdapters
  import Testing

  // The code of Docs/LocalEdits.md.

  struct Meter: SyncedRecord, Codable {
    static let recordType: RecordType = "meters"
    var mac: String
    var name: String
    var colour: String?
  }

  private func editsExample(
    store: any LocalStore, remote: InMemoryRemote, settings: any LegacySettings
  ) async throws -> SyncEngine {
    let schema = try SyncSchema(
      Entity(
        "meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric), stampField: "edited"),
      Entity("readings", references: [.to("meters", by: "meter")], immutable: ["taken"]))
    let engine = try await SyncEngine(
      schema: schema, store: store, source: remote, sink: remote,
      edits: EditOptions(
        policies: ["readings": ServerWins()],
        isSignificant: { $0.winner == .remote },
        onStorageFull: { await archiveOldReadings() }))  // whether there is more room now

    try await engine.edits.upsert(
      Meter(mac: "AA:BB:CC:DD:EE:01", name: "Cellar"), key: "cellar")
    try await engine.edits.delete(RecordID(type: "meters", key: "attic"))

    if var cellar = try await engine.records.find(Meter.self, key: "cellar") {
      cellar.colour = "red"  // meanwhile a sync may bring another name
      try await engine.edits.upsert(cellar)
    }
    try await engine.edits.update(Meter.self, key: "cellar") { $0.colour = "blue" }

    try await engine.edits.perform { (batch) throws(SyncError) in
      for reading in try batch.records(Query("readings", where: .equal("meter", "attic"))) {
        try batch.set(reading.id) { $0["meter"] = Array(#""cellar""#.utf8)[...] }
      }
      try batch.delete(RecordID(type: "meters", key: "attic"))
    }

    _ = try await engine.sync()

    for edit in try await engine.edits.waiting("meters") {
      print(edit.entry.id, edit.reason, edit.isSentWithNextPush, edit.nextAttempt as Any)
      if case .change(let reason) = edit.wait { print("The remote refuses it: \(reason)") }
    }
    try await engine.edits.discard(RecordID(type: "meters", key: "cellar"))

    let report = try await engine.rebuildDuplicates(
      of: "meters", version: 2, options: RebuildOptions(carriesOver: .fields(["colour"])))
    print(report.counts.groups, report.counts.losers, report.counts.repointed)

    let throttle = engine.throttle(every: .seconds(120))
    let seen = Meter(mac: "AA:BB:CC:DD:EE:01", name: "Cellar")
    try await throttle.record(seen, key: "cellar")  // each time that it is seen
    let latest = try await throttle.latest(Meter.self, key: "cellar")
    print(latest?.value.name ?? "never seen")

    try await engine.cleanUp(
      CleanupPolicy([.hide("readings", olderThan: .seconds(365 * 86_400), by: .date("date"))]))

    let room = ExpiringField<String>("room", lifetime: .seconds(24 * 3600))
    try await engine.expiring.set("kitchen", for: room, of: RecordID(type: "meters", key: "cellar"))

    let network = ExpiringMember<String>("network", of: "meters")
    try await engine.expiring.set("home", for: network, key: "cellar")
    let current = try await engine.expiring.value(of: network, key: "cellar")
    print(current ?? "not connected")

    try await engine.edits.seed(Meter(mac: "AA:BB:CC:DD:EE:09", name: "Main"), key: "main")

    let migration = LegacyMigration(
      "settings-before-2", to: "meters", keyField: "mac",
      fields: ["names": "name", "colours": "colour"])
    try await engine.migrate(settings, by: migration)

    return engine
  }

  private func forgettingExample(store: any LocalStore) async throws {
    let unsent = try await SyncEngine.forgetEverything(in: store)
    print(unsent.map(\.id))  // edits that were not pushed, or whose answer was lost
  }

  private func archiveOldReadings() async -> Bool { false }

  @Suite("The guide to local edits")
  struct EditsExampleTests {
    @Test func showsEditsThatArrive() async throws {
      let remote = InMemoryRemote()
      remote.upsert("meters", "attic", #"{"mac":"AA:BB:CC:DD:EE:02","name":"Attic"}"#)
      let settings = InMemoryLegacySettings([
        "names": ["aabbccddee01": #""Cellar""#, "AA:BB:CC:DD:EE:03": #""Garage""#],
        "colours": ["aabbccddee01": #""blue""#],
      ])
      let engine = try await editsExample(store: InMemoryStore(), remote: remote, settings: settings)
      #expect(try await engine.sync().pushed.accepted == 3)
      let meters = try await engine.records.all(Meter.self)
      #expect(Set(meters.map(\.name)) == ["Cellar", "Attic", "Garage", "Main"])
      #expect(meters.first { $0.name == "Cellar" }?.colour == "blue")
    }
  }
#endif
