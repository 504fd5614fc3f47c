import CanonicalSync
import InMemoryAdapters
import SyncMaintenance
import Testing

@Suite("Once a declaration has changed, an edit", .timeLimit(.minutes(10)))
struct EditsUnderDeclarationTests {
  private static let teams = Entity("teams")
  private static let games = Entity("games", references: [.to("teams", by: "team")])
  private static let alarms = Entity("alarms", references: [.to("games", by: "game")])

  @Test func isPushedBeforeItsRecordIsWithheld() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    _ = try await table.engine(Self.teams, Entity("games")).sync()
    let old = try await table.engine(Self.teams, Entity("games"))
    table.clock.advance(by: .seconds(10))
    try await old.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "g")) { $0["note"] = Array("1".utf8)[...] }
    }
    table.remote.rule(.refused(reason: "no"), on: "games", "g")
    let next = try await table.engine(Self.teams, Self.games)
    _ = try await next.sync()
    #expect(table.keys("games") == ["g"])
    #expect(try await next.edits.pending("games").count == 1)
    table.remote.rule(nil, on: "games", "g")
    try await next.edits.retry("games")
    _ = try await next.sync()
    #expect(table.keys("games") == [])
    #expect(try await next.edits.pending("games").isEmpty)
    #expect(try await table.withheld(RecordID(type: "games", key: "g"))?.kind == .parked)
  }

  /// A record is withheld after its edit, and those that refer to it before it.
  @Test func keepsItsRecordAndWhatRefersToThat() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    table.remote.upsert("alarms", "a", #"{"game":"g"}"#)
    let old = try await table.engine(Self.teams, Entity("games"), Self.alarms)
    _ = try await old.sync()
    table.clock.advance(by: .seconds(10))
    try await old.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "g")) { $0["note"] = Array("1".utf8)[...] }
    }
    table.remote.rule(.refused(reason: "no"), on: "games", "g")
    let next = try await table.engine(Self.teams, Self.games, Self.alarms)
    _ = try await next.sync()
    _ = try await next.sync()
    #expect(table.keys("games") == ["g"])
    #expect(table.keys("alarms") == ["a"])
    #expect(try await table.withheld(RecordID(type: "alarms", key: "a")) == nil)
    table.remote.rule(nil, on: "games", "g")
    try await next.edits.retry("games")
    _ = try await next.sync()
    #expect(table.keys("games") == [])
    #expect(table.keys("alarms") == [])
  }

  /// Otherwise its own record would dangle until it is pushed.
  @Test func keepsWhatItsRecordRefersTo() async throws {
    let table = WithheldTable()
    let cups = Entity("cups")
    let teams = Entity("teams", references: [.to("cups", by: "cup")])
    table.remote.upsert("teams", "t", #"{"cup":"nowhere"}"#)
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    table.remote.upsert("games", "h", #"{"team":"t"}"#)
    let old = try await table.engine(cups, Self.teams, Self.games)
    _ = try await old.sync()
    table.clock.advance(by: .seconds(10))
    try await old.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "g")) { $0["note"] = Array("1".utf8)[...] }
    }
    table.remote.rule(.refused(reason: "no"), on: "games", "g")
    let next = try await table.engine(cups, teams, Self.games)
    for _ in 1...3 {
      _ = try await next.sync()
      #expect(table.keys("teams") == ["t"])
      #expect(table.keys("games").contains("g"))
      let report = try await StoreVerification(of: table.store).run()
      #expect(report.findings == [], "A record that stays for an edit is no damage.")
    }
    table.remote.rule(nil, on: "games", "g")
    try await next.edits.retry("games")
    for _ in 1...2 { _ = try await next.sync() }
    #expect(table.keys("teams") == [])
    #expect(table.keys("games") == [])
    table.remote.upsert("cups", "nowhere", "{}")
    _ = try await next.sync()
    #expect(table.keys("games") == ["g", "h"])
  }

  /// The copy that it meets cannot be shown, and neither can the edit: but readers see it already.
  @Test func isPushedAlsoWhereItMeetsANewerCopy() async throws {
    let table = WithheldTable()
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    let old = try await table.engine(Self.teams, Entity("games"))
    _ = try await old.sync()
    table.clock.advance(by: .seconds(10))
    try await old.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "g")) { $0["note"] = Array("1".utf8)[...] }
    }
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    let next = try await table.engine(Self.teams, Self.games)
    _ = try await next.sync()
    #expect(try await next.edits.pending("games").isEmpty)
    let payload = try #require(table.remote.records(of: "games").first?.payload)
    #expect(String(decoding: payload.bytes, as: UTF8.self).contains("note"))
    #expect(table.keys("games") == [])
    #expect(try await table.withheld(RecordID(type: "games", key: "g"))?.kind == .parked)
  }

  /// The copy refers to another absent record, and other records refer to the edited one.
  @Test func givesWayToANewerCopyThatCannotBeShown() async throws {
    let table = WithheldTable()
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    table.remote.upsert("alarms", "a", #"{"game":"g"}"#)
    let old = try await table.engine(Self.teams, Entity("games"), Self.alarms)
    _ = try await old.sync()
    try await old.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "g")) { $0["note"] = Array("1".utf8)[...] }
    }
    table.clock.advance(by: .seconds(10))
    table.remote.upsert("games", "g", #"{"team":"elsewhere"}"#)
    let next = try await table.engine(Self.teams, Self.games, Self.alarms)
    _ = try await next.sync()
    #expect(try await next.edits.pending("games").isEmpty)
    #expect(try await next.edits.conflicts().map(\.winner) == [.remote])
    #expect(table.keys("games") == [])
    #expect(table.keys("alarms") == [])
    table.remote.upsert("teams", "elsewhere", "{}")
    _ = try await next.sync()
    #expect(table.keys("games") == ["g"])
    #expect(table.keys("alarms") == ["a"])
  }
}
