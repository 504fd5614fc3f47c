import CanonicalSync
import InMemoryAdapters

/// Forty records of three types, and changes of every kind, for sweeps of faults.
struct Scenario {
  let clock = ManualClock()
  let remote: InMemoryRemote
  let store: InMemoryStore
  let schema: SyncSchema
  let audit: Audit
  let malformed: Set<RecordID> = [RecordID(type: "games", key: "g2"), RecordID(type: "games", key: "new")]

  init(_ configuration: InMemoryRemote.Configuration = .privateZone) throws {
    let clock = clock
    schema = try SyncSchema(
      Entity("leagues", schemaVersionField: "schema", references: [.to("leagues", by: "parent")]),
      Entity("teams", references: [.to("leagues", by: "league")], visibility: .wholeEntity),
      Entity("games", references: [.to("teams", by: "home"), .to("teams", by: "away")]))
    remote = InMemoryRemote(configuration: configuration, clock: clock)
    store = InMemoryStore(leaseClock: { clock.timestamp })
    audit = Audit(schema, store)
  }

  /// Adds four leagues, twelve teams and twenty-four games.
  ///
  /// The leagues form a chain, whose last link is listed first.
  func populate() {
    for (key, parent) in [("l1", "l2"), ("l2", "l3"), ("l3", "l4"), ("l4", "")] {
      let parent = parent.isEmpty ? "null" : "\"\(parent)\""
      remote.upsert("leagues", key, #"{"id":"\#(key)","parent":\#(parent)}"#)
    }
    for number in 1...12 { putTeam("t\(number)", league: "l\(number % 4 + 1)") }
    for number in 1...24 { putGame("g\(number)", home: number % 12 + 1, away: (number + 1) % 12 + 1) }
  }

  /// Makes changes of every kind.
  ///
  /// Records are new, changed, deleted with and without children, parked, unreadable or too new,
  /// and tokens are invalid.
  func stir() {
    remote.upsert("leagues", "l5", #"{"id":"l5","parent":"l1"}"#)
    remote.upsert("leagues", "l3", #"{"id":"l3","parent":"l4","schema":2}"#)
    putTeam("t13", league: "l5")
    putTeam("t1", league: "l2")
    remote.delete("teams", "t6")
    remote.delete("games", "g5")
    remote.delete("games", "g17")
    remote.delete("games", "g4")
    remote.delete("teams", "t7")
    putGame("g1", home: 13, away: 1)
    putGame("g3", home: 99, away: 1)
    putGame("g25", home: 2, away: 98)
    remote.putMalformed("games", "g2", Array("{".utf8))
    remote.putMalformed("games", "new", Array("}".utf8))
    remote.expireTokens(of: "teams")
  }

  func engine(on store: (any LocalStore)? = nil, source: (any RemoteRecordSource)? = nil)
    async throws(SyncError) -> SyncEngine
  {
    try await SyncEngine(
      schema: schema, store: store ?? self.store, source: source ?? remote, clock: clock,
      options: SyncOptions(pageSize: 5, retry: RetryPolicy(attempts: 1)), random: RepeatedNumber())
  }

  /// Syncs like a new process after a failed one.
  ///
  /// It has its own engine, and starts after the end of the lease.
  func recover() async throws(SyncError) -> SyncResult {
    clock.advance(by: .seconds(60))
    return try await engine().sync()
  }

  private func putTeam(_ key: String, league: String) {
    remote.upsert("teams", key, #"{"id":"\#(key)","league":"\#(league)"}"#)
  }

  private func putGame(_ key: String, home: Int, away: Int) {
    remote.upsert("games", key, #"{"id":"\#(key)","home":"t\#(home)","away":"t\#(away)"}"#)
  }
}
