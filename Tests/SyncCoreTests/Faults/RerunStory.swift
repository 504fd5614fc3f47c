import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization

/// A scenario of an app with the library, from its first sync to its end.
enum RerunStory: String, CaseIterable, Sendable {
  case firstSync, delta, listing, editsAndConflicts, discardedEdit, sweep, wholeEntity, rebuild, arrivals
  case cleanUp, migration, throttle, expiry, bundledRecords, changedDeclarations

  /// A text in the events, results or store that proves the main event.
  var sign: String {
    switch self {
    case .firstSync: "deferred: 1"
    case .delta: "quarantined"
    case .listing: "unchanged: 6"
    case .editsAndConflicts: "editRefused"
    case .discardedEdit: "edited"
    case .sweep: "swept: 3"
    case .wholeEntity: "updated: 8"
    case .rebuild: "losers: 1"
    case .arrivals: "ChangedRecords.records\n    ▿ records: 2 elements\n      ▿ readings/r9"
    case .cleanUp: "hidden"
    case .migration: "name\":\"Old"
    case .throttle: "recorded"
    case .expiry: "expired: 1"
    case .bundledRecords: "readings/gone"
    case .changedDeclarations: "replayed"
    }
  }

  /// The final state of a scenario.
  struct Outcome: Sendable {
    var results: [String]
    var events: [String]
    var contents: [String]
    /// The keys of all kept values.
    var keys: [String]
  }

  /// Runs the scenario over a store.
  ///
  /// - Parameter wrap: Wraps the store that has the data.
  func outcome(over wrap: @Sendable (InMemoryStore) -> any LocalStore) async throws -> Outcome {
    let stage = try RerunStage(configuration, wrap)
    try await play(on: stage)
    return Outcome(
      results: stage.results, events: stage.recorder.events.map(Self.members),
      contents: try await stage.contents(), keys: try await stage.keys())
  }

  /// Spells an event with all of its members, of which its description shows only some.
  private static func members(of event: SyncEvent) -> String {
    var text = ""
    dump(event, to: &text)
    return text
  }

  private var configuration: InMemoryRemote.Configuration {
    switch self {
    case .listing: .publicDatabase()
    case .sweep: InMemoryRemote.Configuration(deltas: .fullOnly)
    default: .privateZone
    }
  }

  private func play(on stage: RerunStage) async throws {
    stage.populate()
    let engine = try await stage.engine()
    if self == .bundledRecords { try await stage.loadBundle() }
    stage.note(try await engine.sync())
    switch self {
    case .firstSync: break
    case .delta, .listing: stage.stir()
    case .editsAndConflicts: try await editAndConflict(on: stage, engine)
    case .discardedEdit:
      try await stage.edit(engine, "m1", name: "Mine")
      try await engine.edits.discard(stage.id("m1"))
    case .sweep:
      for key in ["r1", "r2", "r4"] { stage.remote.delete("readings", key) }
    case .wholeEntity:
      for number in 1...9 { stage.room("k\(number)", name: "New") }
      stage.remote.delete("rooms", "k3")
      stage.remote.expireTokens(of: "rooms")
    case .rebuild, .arrivals:
      stage.note(try await engine.rebuildDuplicates(of: "meters", version: 1))
      if self == .arrivals { stage.meter("m9", mac: "01", name: "Late") }
    case .cleanUp:
      stage.note(
        try await engine.cleanUp(
          CleanupPolicy([.hide("readings", olderThan: .seconds(86_400), by: .date("date"))])))
      stage.reading("r1", meter: "m1", date: "1970-01-02")
    case .migration:
      let settings = InMemoryLegacySettings(["names": ["0A": #""Old""#, "01": #""Older""#]])
      let migration = LegacyMigration("before-2", to: "meters", keyField: "mac", fields: ["names": "name"])
      stage.note(try await engine.migrate(settings, by: migration))
    case .throttle:
      for second in [0, 30, 130] {
        stage.clock.advance(by: .seconds(second))
        stage.note(try await engine.throttle().record(RerunMeter(mac: "05", name: "\(second)"), key: "m5"))
      }
    case .expiry:
      let field = ExpiringField<String>("place", lifetime: .seconds(60))
      try await engine.expiring.set("kitchen", for: field, of: stage.id("m1"))
      stage.clock.advance(by: .seconds(90))
      stage.note(try await engine.cleanUp(CleanupPolicy([])))
    case .bundledRecords: stage.stir()
    case .changedDeclarations:
      stage.reading("r9", meter: "unknown")
      stage.note(try await engine.sync())
      stage.declaresReferences = false
      stage.note(try await stage.engine().sync())
    }
    stage.note(try await stage.engine().sync())
    stage.note(try await stage.engine().sync())
  }

  /// Makes accepted edits, two conflicts, one refused edit and one pending edit.
  private func editAndConflict(on stage: RerunStage, _ engine: SyncEngine) async throws {
    try await stage.edit(engine, "m1", name: "Mine")
    try await stage.edit(engine, "new", name: "Added")
    try await stage.edit(engine, "m2", name: "Earlier")
    stage.clock.advance(by: .seconds(10))
    stage.meter("m2", mac: "02", name: "Later, at the remote")
    stage.meter("m3", mac: "03", name: "At the remote")
    stage.clock.advance(by: .seconds(10))
    try await stage.edit(engine, "m3", name: "Last")
    stage.remote.rule(.refused(reason: "no"), on: "meters", "new")
    try await engine.edits.delete(RecordID(type: "readings", key: "r4"))
  }
}

struct RerunMeter: SyncedRecord, Codable {
  static let recordType: RecordType = "meters"
  var mac: String
  var name: String
}

/// The remote and the store of a scenario.
final class RerunStage: Sendable {
  let clock = ManualClock()
  let recorder = EventRecorder()
  let remote: InMemoryRemote
  private let base: InMemoryStore
  private let store: any LocalStore
  private let notes = Mutex<[String]>([])
  private let isOrdered = Mutex(true)

  var results: [String] { notes.withLock { $0 } }

  /// Whether the app declares that readings must not be shown without their meters.
  var declaresReferences: Bool {
    get { isOrdered.withLock { $0 } }
    set { isOrdered.withLock { $0 = newValue } }
  }

  init(_ configuration: InMemoryRemote.Configuration, _ wrap: (InMemoryStore) -> any LocalStore) throws {
    let clock = clock
    remote = InMemoryRemote(configuration: configuration, clock: clock)
    base = InMemoryStore(leaseClock: { clock.timestamp })
    store = wrap(base)
  }

  private func schema() throws(SyncError) -> SyncSchema {
    try SyncSchema(
      Entity("rooms", visibility: .wholeEntity),
      Entity("meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric)),
      Entity(
        "readings", references: [.to("meters", by: "meter", ordered: declaresReferences)], indexes: ["date"]))
  }

  /// Loads two bundled records, which differ at the remote.
  func loadBundle() async throws {
    let bundle = """
      {"format":1,"types":{"meters":{"records":[{"id":"m1","mac":"01","name":"Bundled"}]},\
      "readings":{"records":[{"id":"r1","meter":"m1"},{"id":"gone","meter":"m1"}]}}}
      """
    let result = try await Bootstrap(Array(bundle.utf8), layout: RecordLayout()).load(
      into: store, schema: schema(), source: remote, clock: clock)
    note(result.loaded.sorted { $0.key < $1.key })
  }

  func engine() async throws -> SyncEngine {
    try await SyncEngine(
      schema: schema(), store: store, source: remote, sink: remote, clock: clock,
      options: SyncOptions(pageSize: 4), observers: [recorder], random: RepeatedNumber())
  }

  func note(_ result: some Any) { notes.withLock { $0.append("\(result)") } }

  func id(_ key: String) -> RecordID { RecordID(type: "meters", key: key) }

  func room(_ key: String, name: String) {
    remote.upsert("rooms", key, #"{"id":"\#(key)","name":"\#(name)"}"#)
  }

  func meter(_ key: String, mac: String, name: String) {
    remote.upsert("meters", key, #"{"id":"\#(key)","mac":"\#(mac)","name":"\#(name)"}"#)
  }

  func reading(_ key: String, meter: String, date: String = "1970-01-01") {
    remote.upsert("readings", key, #"{"id":"\#(key)","meter":"\#(meter)","date":"\#(date)"}"#)
  }

  /// Adds nine rooms, eight meters and a reading of each.
  ///
  /// Two meters are duplicates. One reading waits for its meter.
  func populate() {
    clock.advance(by: .seconds(10 * 86_400))
    for number in 1...9 { room("k\(number)", name: "Room") }
    for number in 1...8 { meter("m\(number)", mac: "0\(number == 8 ? 7 : number)", name: "Meter") }
    for number in 1...9 { reading("r\(number)", meter: "m\(number)") }
  }

  /// Makes changes of every kind.
  func stir() {
    clock.advance(by: .seconds(60))
    meter("m1", mac: "01", name: "Changed")
    meter("m9", mac: "09", name: "New")
    reading("r2", meter: "m1")
    remote.delete("readings", "r3")
    remote.delete("meters", "m4")
    remote.putMalformed("readings", "r5", Array("{".utf8))
    room("k1", name: "Painted")
  }

  func edit(_ engine: SyncEngine, _ key: String, name: String) async throws {
    clock.advance(by: .seconds(1))
    try await engine.edits.upsert(RerunMeter(mac: "0\(key.last ?? "0")", name: name), key: key)
  }

  /// The keys of all kept values.
  func keys() async throws -> [String] {
    try await base.read { (snapshot) throws(SyncError) in
      try snapshot.keys(withPrefix: "", after: nil, limit: 1000)
    }
  }

  /// The content of the store, in words.
  func contents() async throws -> [String] {
    try await base.read { (snapshot) throws(SyncError) in
      var lines: [String] = []
      for entity in try snapshot.registeredEntities() {
        for row in try snapshot.rows(entity.type, .all, after: nil, limit: 1000) {
          let text = row.record.map { String(decoding: $0.payload.bytes, as: UTF8.self) } ?? "deleted"
          lines.append("\(row.id) \(row.version) \(row.isMarked) \(text)")
        }
        let kinds = Set(WithheldChange.Kind.allCases)
        lines += try snapshot.withheld(entity.type, kinds: kinds, after: nil, limit: 1000).map { "\($0)" }
        lines += try snapshot.outbox(entity.type, after: nil, limit: 1000).map { "\($0)" }
      }
      lines += try snapshot.conflicts(nil, before: nil, limit: 1000).map { "\($0)" }
      // The history has times that were measured.
      let keys = try snapshot.keys(withPrefix: "", after: nil, limit: 1000)
      for key in keys where !key.hasPrefix("history/") {
        lines.append("\(key) \(String(decoding: try snapshot.value(forKey: key) ?? [], as: UTF8.self))")
      }
      return lines + ["\(try snapshot.changes(after: nil).position)"]
    }
  }
}
