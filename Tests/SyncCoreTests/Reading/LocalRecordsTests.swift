import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("The records in a store", .timeLimit(.minutes(10)))
struct LocalRecordsTests {
  struct Team: SyncedRecord, Equatable {
    static let recordType: RecordType = "teams"
    var id: String
    var name: String
  }
  struct Game: SyncedRecord {
    static let recordType: RecordType = "games"
    var id: String
    var date: String
  }
  struct Venue: SyncedRecord {
    static let recordType: RecordType = "venues"
    var id: String
  }

  private func synced() async throws -> World {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.upsert("teams", "t4", #"{"id":"t4","name":7}"#)
    world.addGame("g1", home: "t1", away: "t2", date: "2026-04-03")
    world.addGame("g2", home: "t2", away: "t1", date: "2026-04-01")
    world.addGame("g3", home: "t1", away: "t4", date: "2026-04-02")
    _ = try await world.engine.sync()
    return world
  }

  @Test func comeByKeyAndWithoutWhatDoesNotDecode() async throws {
    let world = try await synced()
    #expect(try await world.engine.records.all(Team.self).map(\.id) == ["t1", "t2", "t3"])
    let reported = world.recorder.events.compactMap {
      if case .undecodable(let id, _) = $0 { id } else { nil }
    }
    #expect(reported == [RecordID(type: "teams", key: "t4")])
    let teams = try await world.engine.records.all(Team.self)
    #expect(teams.leftOut.map(\.id) == [RecordID(type: "teams", key: "t4")])
    #expect(throws: SyncError.self) { try teams.complete() }
    #expect(try await world.engine.records.all(Game.self).complete().count == 3)
    #expect(try await world.engine.records.count(Team.self) == 4)
  }

  /// R1.10
  @Test func thatDoNotDecodeAreListedWithTheReason() async throws {
    let world = try await synced()
    let listed = try await world.engine.records.undecodable(Team.self)
    #expect(listed.map(\.id) == [RecordID(type: "teams", key: "t4")])
    #expect(listed[0].reason.contains("name") && !listed[0].reason.contains("7"))
    world.addTeams(5...1000)
    world.remote.upsert("teams", "t1001", "{}")
    _ = try await world.engine.sync()
    #expect(try await world.engine.records.undecodable(Team.self).map(\.id.key) == ["t1001", "t4"])
    #expect(try await world.engine.records.undecodable(Team.self, where: .equal("name", "Team")).isEmpty)
    #expect(try await world.engine.records.undecodable(Game.self).isEmpty)
  }

  @Test func areFilteredSortedAndLimited() async throws {
    let records = try await synced().engine.records
    let atHome = try await records.filter(Game.self, where: .equal("home", "t1"), order: ["date"])
    #expect(atHome.map(\.id) == ["g3", "g1"])
    let latest = try await records.filter(Game.self, order: [.descending("date")], limit: 1)
    #expect(latest.map(\.id) == ["g1"])
    #expect(try await records.count(Game.self, where: .greater("date", "2026-04-01")) == 2)
  }

  @Test func areFoundByKey() async throws {
    let records = try await synced().engine.records
    #expect(try await records.find(Team.self, key: "t2")?.value == Team(id: "t2", name: "Team"))
    #expect(try await records.find(Team.self, key: "t9") == nil)
    await #expect {
      try await records.find(Team.self, key: "t4")
    } throws: { error in
      (error as? SyncError)?.code == .undecodable && "\(error)".contains("teams/t4")
        && !"\(error)".contains("7")
    }
  }

  @Test func comeWithWhatTheyReferTo() async throws {
    let records = try await synced().engine.records
    let games = try await records.filter(Game.self, order: ["date"], including: ["home", "away"])
    #expect(games.map(\.record.id) == ["g2", "g3", "g1"])
    let homes: [Team?] = try games.map { try $0.reference("home") }
    #expect(homes.map { $0?.id } == ["t2", "t1", "t1"])
    #expect(throws: SyncError.self) { try games[1].reference("away", as: Team.self) }
    #expect(try games[0].reference("date", as: Team.self) == nil)
  }

  @Test func ofAnUndeclaredTypeOrReferenceAreAnError() async throws {
    let records = try await synced().engine.records
    func isInvalid(_ error: any Error, naming name: String) -> Bool {
      guard let error = error as? SyncError else { return false }
      return error.code == .invalidConfiguration && error.description.contains(name)
    }
    await #expect { try await records.all(Venue.self) } throws: { isInvalid($0, naming: "venues") }
    await #expect { try await records.count(Venue.self) } throws: { isInvalid($0, naming: "venues") }
    await #expect {
      try await records.filter(Game.self, including: ["date"])
    } throws: {
      isInvalid($0, naming: "games.date")
    }
  }

  @Test func areExplained() async throws {
    let world = try await synced()
    world.addGame("g4", home: "t1", away: "t9")
    world.remote.delete("games", "g2")
    world.remote.delete("teams", "t1")
    _ = try await world.engine.sync()
    func story(_ type: RecordType, _ key: String) async throws -> String {
      try await world.engine.explain(RecordID(type: type, key: key)).description
    }
    #expect(try await story("games", "g1").hasPrefix("games/g1 is live, at version #1@"))
    #expect(try await story("games", "g2").hasPrefix("games/g2 was deleted at the remote, as of version #5@"))
    #expect(try await story("games", "g99") == "games/g99 is unknown to this store.")
    let parked = try await story("games", "g4")
    #expect(parked.hasPrefix("games/g4 is not live.\nIt has a withheld change, parked, since pass 2"))
    #expect(parked.hasSuffix("It waits for teams/t9."))
    let held = try await story("teams", "t1")
    #expect(held.hasPrefix("teams/t1 is live"))
    #expect(held.contains("held"))
  }

  @Test func areCountedInAReportOfTheirType() async throws {
    let world = try await synced()
    world.addGame("g4", home: "t1", away: "t9")
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(90))
    let reports = try await world.engine.status()
    #expect(reports.map(\.type) == ["teams", "games"])
    #expect(reports.map(\.live) == [4, 3])
    #expect(reports.map(\.tokenAge) == [.seconds(90), .seconds(90)])
    #expect(reports[1].withheld == [.parked: 1])
    #expect(reports[0].inFlight == nil)
  }
}
