import CanonicalSync
import InMemoryAdapters
import Testing

@testable import SyncCore

@Suite("Clean-up", .timeLimit(.minutes(10)))
struct CleanupTests {
  /// Games of two years; the clock is at the beginning of 2026.
  private func world(
    _ configuration: InMemoryRemote.Configuration = .privateZone
  ) async throws -> World {
    let world = try await World(configuration: configuration)
    world.addTeams(1...3)
    world.addGame("old", home: "t1", away: "t2", date: "2024-12-31")
    world.addGame("edge", home: "t1", away: "t2", date: "2025-01-01")
    world.addGame("timed", home: "t1", away: "t2", date: "2024-12-31T23:59:59Z")
    world.addGame("young", home: "t1", away: "t2", date: "2025-06-01")
    world.remote.upsert("games", "undated", #"{"id":"undated","home":"t1","away":"t2"}"#)
    _ = try await world.engine.sync()
    return world
  }

  private static let policy = CleanupPolicy([
    .hide("games", olderThan: .seconds(365 * 86_400), by: .date("date"))
  ])

  private func hidden(_ world: World, _ type: RecordType = "games") async throws -> Int? {
    try await world.engine.status().first { $0.type == type }?.withheld[.hidden]
  }

  @Test func hidesWhatIsTooOldAndReportsNoChange() async throws {
    let world = try await world()
    let report = try await world.engine.cleanUp(Self.policy)
    #expect(report.hidden == ["games": 2])
    #expect(world.keys("games") == ["edge", "undated", "young"])
    #expect(try await world.engine.edits.pending("games").isEmpty)
    #expect(world.remote.records(of: "games").count == 5)
    #expect(try await hidden(world) == 2)
    let story = try await world.engine.explain(RecordID(type: "games", key: "old")).description
    #expect(story.contains("hidden"))
    #expect(try await world.engine.cleanUp(Self.policy).hidden["games"] == 0)
  }

  @Test(arguments: [InMemoryRemote.Configuration.privateZone, .publicDatabase()])
  func leavesHiddenWhatAListingHoldsUnchanged(_ configuration: InMemoryRemote.Configuration) async throws {
    let world = try await world(configuration)
    try await world.engine.cleanUp(Self.policy)
    for _ in 1...2 {
      let result = try await world.engine.resync()
      #expect(world.keys("games") == ["edge", "undated", "young"])
      #expect(result["games"].unchanged == 5)
      #expect(result["games"].deleted == 0)
    }
    #expect(try await hidden(world) == 2)
  }

  @Test func bringsBackWhatTheRemoteChanges() async throws {
    let world = try await world()
    try await world.engine.cleanUp(Self.policy)
    world.addGame("old", home: "t3", away: "t2", date: "2024-12-31")
    let result = try await world.engine.sync()
    #expect(world.keys("games") == ["edge", "old", "undated", "young"])
    #expect(result["games"].inserted == 1)
    #expect(try await hidden(world) == 1)
    #expect(try await world.engine.cleanUp(Self.policy).hidden["games"] == 1)
  }

  @Test func forgetsWhatTheRemoteDeletes() async throws {
    for configuration in [InMemoryRemote.Configuration.privateZone, .publicDatabase()] {
      let world = try await world(configuration)
      try await world.engine.cleanUp(Self.policy)
      world.remote.delete("games", "old")
      _ = try await world.engine.resync()
      _ = try await world.engine.resync()
      #expect(try await hidden(world) == 1)
      #expect(world.keys("games") == ["edge", "undated", "young"])
    }
  }

  @Test func sparesWhatIsEditedAndWhatOthersReferTo() async throws {
    let world = try await world()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "old")) { $0["note"] = Array("1".utf8)[...] }
    }
    let report = try await world.engine.cleanUp(
      CleanupPolicy([
        .hide("teams", where: .all([])), .hide("games", where: .range("date", from: "", to: "2025")),
      ]
      ))
    #expect(report.hidden == ["games": 1, "teams": 1])
    #expect(report.spared == ["games": 1, "teams": 2])
    #expect(world.keys("teams") == ["t1", "t2"])
    #expect(world.keys("games") == ["edge", "old", "undated", "young"])
  }

  @Test func bringsBackWhatSomethingThatArrivesRefersTo() async throws {
    let world = try await world()
    try await world.engine.cleanUp(CleanupPolicy([.hide("teams", where: .all([]))]))
    #expect(world.keys("teams") == ["t1", "t2"])
    world.addGame("new", home: "t3", away: "t1")
    let result = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    #expect(world.keys("games").contains("new"))
    #expect(result["teams"].replayed == 1)
    #expect(try await hidden(world, "teams") == nil)
    // A restored record counts as listed.
    _ = try await world.engine.resync()
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
  }

  @Test func whatCameBackDuringAListingIsNotSwept() async throws {
    let world = try await world(.publicDatabase())
    try await world.engine.cleanUp(CleanupPolicy([.hide("teams", where: .all([]))]))
    world.addGame("new", home: "t3", away: "t1")
    for _ in 1...3 {
      _ = try await world.engine.resync()
      #expect(world.keys("teams") == ["t1", "t2", "t3"])
    }
  }

  @Test func bringsBackChainsOfHiddenRecords() async throws {
    let world = try await World([Entity("folders", references: [.to("folders", by: "parent")])])
    world.remote.upsert("folders", "a", #"{"parent":null}"#)
    world.remote.upsert("folders", "b", #"{"parent":"a"}"#)
    world.remote.upsert("folders", "c", #"{"parent":"b"}"#)
    _ = try await world.engine.sync()
    let report = try await world.engine.cleanUp(CleanupPolicy([.hide("folders", where: .all([]))]))
    #expect(report.hidden == ["folders": 3])
    #expect(world.keys("folders") == [])
    world.remote.upsert("folders", "d", #"{"parent":"c"}"#)
    _ = try await world.engine.sync()
    #expect(world.keys("folders") == ["a", "b", "c", "d"])
  }

  @Test func bringsBackWhatTheAppEditsOrRefersTo() async throws {
    let world = try await world()
    try await world.engine.cleanUp(Self.policy)
    try await world.engine.cleanUp(CleanupPolicy([.hide("teams", where: .all([]))]))
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "old")) { $0["home"] = Array(#""t3""#.utf8)[...] }
    }
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    let game = world.store.records(of: "games").first { $0.id.key == "old" }
    #expect(
      game?.payload.hasSameMembers(
        as: Payload(Array(#"{"id":"old","home":"t3","away":"t2","date":"2024-12-31"}"#.utf8))) == true)
    let entry = try await world.engine.edits.pending("games").first
    #expect(entry?.base.record != nil)
  }

  @Test func hidesByModificationTimeAndByNumbers() async throws {
    let world = try await World([Entity("notes", indexes: ["at"])])
    for (key, second) in [("a", 0), ("b", 100)] as [(String, Int64)] {
      world.remote.upsert(
        "notes", key, #"{"at":\#(1_767_225_600_000 + second * 1000)}"#,
        modifiedAt: Timestamp(milliseconds: 1_767_225_600_000 + second * 1000))
    }
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(150))
    let rules: [CleanupPolicy.Rule] = [
      .hide("notes", olderThan: .seconds(100), by: .modification),
      .hide("notes", olderThan: .seconds(40), by: .milliseconds("at")),
    ]
    try await world.engine.cleanUp(CleanupPolicy([rules[0]], recordsAtOnce: 1))
    #expect(world.keys("notes") == ["b"])
    try await world.engine.cleanUp(CleanupPolicy(rules))
    #expect(world.keys("notes") == [])
  }

  @Test func tellsObserversAndStopsWhenAsked() async throws {
    let world = try await world()
    let cancelled = try await world.engine.cleanUp(Self.policy, token: FlagToken(isCancelled: true))
    #expect(cancelled.wasCancelled)
    #expect(world.keys("games").count == 5)
    try await world.engine.cleanUp(Self.policy)
    let told = world.recorder.events.compactMap {
      if case .hidden(.records(let ids)) = $0 { ids } else { nil }
    }
    #expect(told.flatMap { $0 }.map(\.key) == ["old", "timed"])
  }

  @Test func reportsAlsoWhatItHidBeforeItStopped() async throws {
    let world = try await world()
    var policy = Self.policy
    policy.recordsAtOnce = 1
    let report = try await world.engine.cleanUp(policy, token: FewerGames(store: world.store, count: 5))
    #expect(report.wasCancelled && report.hidden == ["games": 1])
    #expect(world.keys("games").count == 4)
  }

  @Test func refusesTypesThatAreNotDeclared() async throws {
    let world = try await world()
    do throws(SyncError) {
      try await world.engine.cleanUp(CleanupPolicy([.hide("strangers", where: .all([]))]))
      Issue.record("It did not throw.")
    } catch {
      #expect(error.code == .invalidConfiguration)
    }
  }

  @Test func countsDaysAsTheCalendarDoes() {
    for (seconds, day) in [
      (0, "1970-01-01"), (-1, "1969-12-31"), (951_782_400, "2000-02-29"), (951_868_800, "2000-03-01"),
      (1_767_225_599, "2025-12-31"), (1_767_225_600, "2026-01-01"), (4_107_542_400, "2100-03-01"),
      (-62_135_596_800, "0001-01-01"),
    ] as [(Int64, String)] {
      #expect(Timestamp(milliseconds: seconds * 1000).date == day)
    }
  }
}

/// A token that is cancelled once a store has fewer games.
private struct FewerGames: CancellationToken {
  let store: InMemoryStore
  let count: Int

  var isCancelled: Bool { store.records(of: "games").count < count }
}
