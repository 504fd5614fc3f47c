import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@testable import SyncCore

// R5.4
@Suite("Metrics", .timeLimit(.minutes(10)))
struct MetricsTests {
  private static let failure = SyncError(.permissionDenied, during: "fetching")

  private func report(_ type: RecordType, _ world: World) async throws -> TypeStatus {
    try #require(try await world.engine.status().first { $0.type == type })
  }

  @Test func tellEachTypesSuccessRateInTheStoresLife() async throws {
    let world = try await World()
    #expect(try await report("teams", world).passes.successRate == nil)
    _ = try await world.engine.sync()
    for _ in 1...3 {
      world.remote.behave(.fail(Self.failure), onNext: 1, of: "games")
      _ = try await world.engine.sync()
    }
    let (teams, games) = (try await report("teams", world), try await report("games", world))
    #expect(teams.passes.successes == 4)
    #expect(teams.passes.successRate == 1)
    #expect(games.passes.successes == 1)
    #expect(games.passes.failures == 3)
    #expect(games.passes.successRate == 0.25)
    let lines = games.metrics.prometheusText.split(separator: "\n")
    #expect(lines.contains(#"canonicalsync_store_success_ratio{type="games"} 0.25"#))
    #expect(lines.contains(#"canonicalsync_store_failures_total{type="games"} 3"#))
    #expect(lines.contains(#"canonicalsync_store_consecutive_failures{type="games"} 3"#))
  }

  @Test func tellHowOldTheDataAre() async throws {
    let world = try await World()
    world.addTeams(1...3)
    #expect(try await report("teams", world).dataAge == nil)
    let before = try await report("teams", world).metrics.prometheusText
    #expect(!before.contains("store_age_seconds") && !before.contains("ratio"))
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(90))
    world.remote.behave(.fail(Self.failure), onNext: 1, of: "teams")
    _ = try await world.engine.sync()
    let teams = try await report("teams", world)
    #expect(teams.dataAge == .seconds(90))
    let lines = teams.metrics.prometheusText.split(separator: "\n")
    #expect(lines.contains(#"canonicalsync_store_age_seconds{type="teams"} 90"#))
    #expect(lines.contains(#"canonicalsync_store_records{type="teams"} 3"#))
    #expect(lines.contains(#"canonicalsync_store_withheld{type="teams",kind="parked"} 0"#))
    #expect(lines.contains(#"canonicalsync_store_outbox{type="teams",waits_for="push"} 0"#))
    world.clock.timestamp = world.clock.timestamp - .seconds(86_400)
    #expect(try await report("teams", world).dataAge == .zero)
  }

  @Test func tellTheAgeOfTheOldestEdit() async throws {
    let world = try await World()
    world.addTeams(1...2)
    _ = try await world.engine.sync()
    func edit(_ key: String) async throws {
      try await world.engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "teams", key: key)) { $0["name"] = Array("1".utf8)[...] }
      }
    }
    let name = #"canonicalsync_store_outbox_age_seconds{type="teams"}"#
    #expect(try await report("teams", world).metrics.prometheusText.contains("\(name) 0\n"))
    try await edit("t1")
    world.clock.advance(by: .seconds(70))
    try await edit("t2")
    world.clock.advance(by: .seconds(20))
    #expect(try await report("teams", world).outboxAge == .seconds(90))
    #expect(try await report("teams", world).metrics.prometheusText.contains("\(name) 90\n"))
  }

  @Test func ofAnObserverHaveRatesAndAgesToo() async throws {
    let world = try await World()
    let counters = MetricsObserver(clock: world.clock)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      options: SyncOptions(retry: RetryPolicy(attempts: 1)), observers: [counters], random: RepeatedNumber())
    #expect(counters.metrics.isEmpty && counters.metrics.prometheusText.isEmpty)
    _ = try await engine.sync()
    world.clock.advance(by: .seconds(10))
    world.remote.behave(.fail(Self.failure), onNext: 1, of: "games")
    _ = try await engine.sync()
    world.clock.advance(by: .seconds(10))
    world.remote.behave(.fail(SyncError(.remoteUnavailable, during: "fetching")), onNext: 1)
    await #expect(throws: SyncError.self) { try await engine.sync() }
    let lines = counters.metrics.prometheusText.split(separator: "\n")
    for line in [
      #"syncs_total{outcome="finished"} 2"#, #"syncs_total{outcome="failed"} 1"#,
      "sync_success_ratio \(2.0 / 3)", #"type_success_ratio{type="games"} 0.5"#,
      #"type_success_ratio{type="teams"} 1"#, "sync_age_seconds 10", #"type_age_seconds{type="teams"} 10"#,
      #"type_age_seconds{type="games"} 20"#, #"type_syncs_total{type="games",outcome="failed"} 1"#,
      #"sync_failures_total{code="permissionDenied"} 1"#,
    ] {
      #expect(lines.contains("canonicalsync_\(line)"), "\(line)")
    }
  }

  @Test func ofAnObserverHaveWhatAFailedSyncCommitted() async throws {
    let world = try await World()
    let counters = MetricsObserver(clock: world.clock)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      options: SyncOptions(maximumConcurrentTypes: 1, retry: RetryPolicy(attempts: 1)), observers: [counters],
      random: RepeatedNumber())
    world.addTeams(1...3)
    world.remote.behave(.fail(SyncError(.authentication, during: "fetching")), onNext: 1, of: "games")
    await #expect(throws: SyncError.self) { try await engine.sync() }
    let noted = try await engine.history()[0]
    #expect(noted.outcome == .failed && noted.total("inserted") == 3)
    let lines = counters.metrics.prometheusText.split(separator: "\n")
    for line in [
      #"syncs_total{outcome="failed"} 1"#, #"fetched_total{type="teams"} 3"#,
      #"changes_total{type="teams",outcome="inserted"} 3"#, #"pages_total{type="teams"} 1"#,
      #"requests_total{type="teams"} 1"#, #"requests_total{type="games"} 1"#,
    ] {
      #expect(lines.contains("canonicalsync_\(line)"), "\(line)")
    }
  }

  @Test func countNoFurtherThanTheGreatestNumber() {
    var status = PassOutcomes()
    #expect(status.successRate == nil)
    status.consecutiveFailures = .max
    status.countFailure(Self.failure, at: Timestamp(microseconds: 9))
    #expect(status.consecutiveFailures == .max)
    #expect(status.failures == 1)
  }
}
