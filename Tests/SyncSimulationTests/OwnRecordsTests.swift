import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncSimulation
import Testing

@Suite("Worlds with the app's own records", .timeLimit(.minutes(10)))
struct OwnRecordsTests {
  struct Team: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "teams"
    var id: String
    var name: String
  }
  struct Game: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "games"
    var id: String
    var home: String
    var score: Int
    var note: Int
  }

  private func simulation() throws -> Simulation {
    var records = WorldRecords(
      try SyncSchema(Entity("teams"), Entity("games", references: [.to("teams", by: "home")])))
    records.add(Team.self) { key, random in
      Team(id: key, name: random.pick("Owls", "Bats"))
    } change: { team, random in
      team.name = random.pick("Cats", "Dogs")
    }
    records.add(Game.self) { key, random in
      Game(id: key, home: random.key(of: "teams"), score: random.number(in: 0...2), note: 0)
    } change: { game, random in
      if random.once(in: 2) { game.score += 1 } else { game.note = random.number(in: 0...5) }
    }
    var simulation = Simulation()
    simulation.useRecords(records)
    return simulation
  }

  /// The higher score wins, and at equal scores what `tie` says.
  struct HighestScore: MergePolicy {
    var tie: @Sendable (MergeConflict) -> MergeResolution

    func settle(_ conflict: MergeConflict) -> MergeResolution {
      let (here, there) = (score(conflict, conflict.local), score(conflict, conflict.remote))
      if here == there { return tie(conflict) }
      return here > there ? .local(reason: "higher score") : .remote(reason: "higher score")
    }

    private func score(_ conflict: MergeConflict, _ side: StampedValue) -> Int {
      let game = try? side.content?.decoded(as: Game.self, key: conflict.id.key)
      return game?.score ?? -1
    }
  }

  @Test func keepEveryPromise() throws {
    var simulation = try simulation()
    #expect(simulation.run(seeds: 0..<20).failures.map(\.outcome.violations) == [])
    simulation.useMergePolicy(
      HighestScore { LastWriteWins().settle($0) },
      reasons: ["higher score", "the local edit was written last", "the remote state was written last"])
    let campaign = simulation.run(seeds: 0..<60)
    #expect(campaign.failures.map(\.outcome.violations) == [])
    #expect(campaign.decisions.keys.contains { $0.type == "games" && $0.side == .local })
    #expect(campaign.decisions.keys.contains { $0.type == "teams" })
  }

  /// An app whose keys are UUIDs or numbers.
  struct Ticket: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "tickets"
    var id: Int
    var seat: Int
  }

  @Test func mayHaveKeysOfTheApp() throws {
    var records = WorldRecords(try SyncSchema(Entity("tickets")))
    records.add(Ticket.self, keys: { String($0 * 1000) }) { key, random in
      Ticket(id: Int(key) ?? 0, seat: random.number(in: 0...3))
    } change: { ticket, random in
      ticket.seat = random.number(in: 4...9)
    }
    var simulation = Simulation()
    simulation.useRecords(records)
    let campaign = simulation.run(seeds: 0..<20)
    #expect(campaign.failures.map(\.outcome.violations) == [])
  }

  /// A source that shows the games of one team alone.
  private struct HomeSource: ForwardingSource {
    let base: any RemoteRecordSource

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      page.changes = page.changes.map(shown)
      page.total = nil
      return page
    }

    func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
      try await base.lookup(ids, of: entity).map(shown)
    }

    /// A record outside is none here.
    private func shown(_ change: RecordChange) -> RecordChange {
      guard case .upsert(let record) = change, record.id.type == "teams",
        (try? record.payload.values(of: ["name"]))?.first == "Dogs"
      else { return change }
      return .tombstone(Tombstone(id: record.id, version: record.version))
    }
  }

  @Test func mayBeFilteredByTheSource() throws {
    var records = WorldRecords(try SyncSchema(Entity("teams")))
    records.add(Team.self) { key, random in
      Team(id: key, name: random.pick("Owls", "Bats", "Dogs"))
    } change: { team, random in
      team.name = random.pick("Cats", "Dogs")
    }
    var simulation = Simulation()
    simulation.useRecords(records)
    simulation.hazards = []
    simulation.useSource({ HomeSource(base: $0) }, showing: { _ in .not(.equal("name", "Dogs")) })
    #expect(simulation.run(seeds: 0..<20).failures.map(\.outcome.violations) == [])
    // Without the filter, the worlds miss the records.
    simulation.useSource { HomeSource(base: $0) }
    #expect(!simulation.run(seeds: 0..<20).failures.isEmpty)
  }

  @Test func areTheSameForTheSameSeed() throws {
    let simulation = try simulation()
    #expect(simulation.run(seed: 5).hash == simulation.run(seed: 5).hash)
    #expect(simulation.run(seed: 5).hash != Simulation().run(seed: 5).hash)
  }

  @Test func findAPolicyThatEachReplicaSettlesInItsOwnWay() throws {
    var simulation = try simulation()
    // At equal scores each device keeps its own.
    simulation.useMergePolicy(HighestScore { _ in .local(reason: "mine") })
    let outcomes = (0..<100).lazy.map { simulation.run(seed: $0) }
    let first = try #require(outcomes.first { !$0.violations.isEmpty })
    #expect(first.violations.contains { $0.promise == .arithmetic })
    let smaller = simulation.shrink(first.recording, attempts: 60)
    let replayed = simulation.replay(smaller, keepsTimeline: true)
    let words = try #require(replayed.violations.first { $0.promise == .arithmetic }?.words)
    #expect(words.contains("local (mine)") && words.contains(#"{"id":"#))
    #expect(replayed.timeline.contains { $0.hasSuffix(" starts") })
    let lines = replayed.timeline.map { $0.drop { $0 == " " || $0 == "." || $0.isNumber } }
    #expect(zip(lines, lines.dropFirst()).allSatisfy { $0 != $1 })
  }

  @Test func reportAPolicyThatWasNotTested() throws {
    // A policy that compares a member that the built-in records lack.
    struct ByRating: MergePolicy {
      func settle(_ conflict: MergeConflict) -> MergeResolution {
        func rating(_ side: StampedValue) -> Int64 {
          if case .integer(let number)? = (try? side.content?.values(of: ["rating"]))??.first {
            number
          } else {
            0
          }
        }
        let (here, there) = (rating(conflict.local), rating(conflict.remote))
        return here > there ? .local(reason: "better") : .remote(reason: "not better")
      }
    }
    var simulation = Simulation()
    simulation.useMergePolicy(ByRating(), treatsSidesAlike: false)
    let failures = simulation.run(seeds: 0..<40).failures
    #expect(failures.last?.outcome.violations.map(\.promise) == [.coverage])
    #expect(failures.last?.outcome.violations.first?.words.contains("not better") == true)
    simulation.useMergePolicy(LastWriteWins(), reasons: ["never"])
    let other = simulation.run(seeds: 0..<10).failures
    #expect(
      other.map(\.outcome.violations).joined().contains { $0.words.contains("never gave the reason never") })
  }
}
