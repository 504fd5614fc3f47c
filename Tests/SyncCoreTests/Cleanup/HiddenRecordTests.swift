import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A hidden record", .timeLimit(.minutes(10)))
struct HiddenRecordTests {
  private static let dated = Entity("teams", indexes: ["date"])
  private static let onePageAtATime = SyncOptions(pageSize: 1, pagesAhead: 0)

  /// Interrupts the next listing of a type after some of its requests.
  private func interrupt(_ world: World, _ type: RecordType, after requests: Int) async throws {
    let token = FlagToken()
    let seen = Mutex(0)
    world.remote.onRequest = { request in
      guard request.entity.type == type else { return }
      let count = seen.withLock { seen in
        seen += 1
        return seen
      }
      if count == requests { token.isCancelled = true }
    }
    #expect(try await world.engine.sync(token: token).wasCancelled)
    world.remote.onRequest = nil
  }

  private func asides(_ world: World, _ type: RecordType) async throws -> [WithheldChange.Kind: Int] {
    try await world.engine.status().first { $0.type == type }?.withheld ?? [:]
  }

  @Test func isForgottenByTheListingThatHadNotComeToIt() async throws {
    let world = try await World([Self.dated, World.games], options: Self.onePageAtATime)
    for n in 1...4 { world.remote.upsert("teams", "t\(n)", #"{"id":"t\#(n)","date":"2020-01-0\#(n)"}"#) }
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t4")
    world.remote.expireTokens()
    try await interrupt(world, "teams", after: 4)
    let report = try await world.engine.cleanUp(
      CleanupPolicy([.hide("teams", where: .equal("date", "2020-01-04"))]))
    #expect(report.hidden == ["teams": 1])
    _ = try await world.engine.sync()
    #expect(try await asides(world, "teams").isEmpty)
    world.addGame("g", home: "t4", away: "t1")
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
  }

  @Test func showsNothingThatItRefersToWhereItIsListedAgain() async throws {
    let games = Entity("games", references: [.to("teams", by: "home")], indexes: ["date"])
    let world = try await World([Self.dated, games])
    world.remote.upsert("teams", "t", #"{"id":"t","date":"2020"}"#)
    world.remote.upsert("games", "g", #"{"id":"g","date":"2020","home":"t"}"#)
    world.remote.upsert("games", "h", #"{"id":"h","date":"2026"}"#)
    _ = try await world.engine.sync()
    let rules = CleanupPolicy([
      .hide("games", where: .equal("date", "2020")), .hide("teams", where: .equal("date", "2020")),
    ])
    _ = try await world.engine.cleanUp(rules)
    world.remote.upsert("games", "h", #"{"id":"h","date":"2027"}"#)
    world.remote.expireTokens()
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == [], "The game stays hidden, and so does its team.")
    #expect(world.keys("games") == ["h"])
  }

  @Test func isNotShownForACopyBesideItsOwnTombstone() async throws {
    let folders = Entity("folders", references: [.to("folders", by: "parent")], indexes: ["date"])
    let world = try await World([folders])
    world.remote.upsert("folders", "f2", #"{"id":"f2","date":"2020"}"#)
    world.remote.upsert("folders", "f1", #"{"id":"f1","date":"2026"}"#)
    _ = try await world.engine.sync()
    _ = try await world.engine.cleanUp(CleanupPolicy([.hide("folders", where: .equal("date", "2020"))]))
    world.remote.upsert("folders", "f1", #"{"id":"f1","date":"2026","parent":"f2"}"#)
    world.remote.delete("folders", "f2")
    let result = try await world.engine.sync()
    #expect(world.keys("folders") == ["f1"])
    #expect(result["folders"].replayed == 0, "The hidden record was shown for a moment.")
    #expect(try await asides(world, "folders") == [.parked: 1])
  }

  @Test func staysHiddenWhereTheListingHadComeToIt() async throws {
    let world = try await World([Self.dated, World.games], options: Self.onePageAtATime)
    for n in 1...4 { world.remote.upsert("teams", "t\(n)", #"{"id":"t\#(n)","date":"2020-01-0\#(n)"}"#) }
    _ = try await world.engine.sync()
    world.remote.expireTokens()
    try await interrupt(world, "teams", after: 4)
    let rule = CleanupPolicy([.hide("teams", where: .equal("date", "2020-01-01"))])
    #expect(try await world.engine.cleanUp(rule).hidden == ["teams": 1])
    _ = try await world.engine.sync()
    #expect(try await asides(world, "teams") == [.hidden: 1])
    world.addGame("g", home: "t1", away: "t2")
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t2", "t3", "t4"])
  }

  @Test func isForgottenByTheSweepThatWaitedForAPerson() async throws {
    let world = try await World([Entity("teams", indexes: ["age"])])
    world.remote.load("teams", (0..<300).map { ("t\($0)", Array(#"{"id":"t\#($0)","age":\#($0)}"#.utf8)) })
    _ = try await world.engine.sync()
    for n in 0..<250 { world.remote.delete("teams", "t\(n)") }
    world.remote.expireTokens()
    #expect(try await world.engine.sync().refusedSweeps.count == 1)
    try await world.engine.cleanUp(CleanupPolicy([.hide("teams", where: .isIn("age", [7, 270]))]))
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    // Records that the remote still has stay hidden.
    #expect(try await asides(world, "teams") == [.hidden: 1])
    #expect(world.keys("teams").count == 49)
  }

  @Test(arguments: [false, true])
  func isNoRivalOfTheCopyThatTheSameListingHolds(_ dangles: Bool) async throws {
    let alarms = Entity("alarms", references: [.to("games", by: "game")])
    let world = try await World([World.teams, World.games, alarms], options: Self.onePageAtATime)
    world.addTeams(1...2)
    for n in 1...4 { world.addGame("g\(n)", home: "t1", away: "t2", date: "2020-01-0\(n)") }
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(10))
    world.addGame("g4", home: dangles ? "t9" : "t2", away: "t1", date: "2020-01-04")
    world.remote.expireTokens(of: "games")
    try await interrupt(world, "games", after: 4)
    try await world.engine.cleanUp(CleanupPolicy([.hide("games", where: .equal("date", "2020-01-04"))]))
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "alarms", key: "a")) { $0["game"] = Array(#""g4""#.utf8)[...] }
    }
    #expect(world.keys("games") == ["g1", "g2", "g3", "g4"])
    _ = try await world.engine.sync()
    if dangles { world.addTeams(9...9) }
    _ = try await world.engine.sync()
    #expect(try await asides(world, "games").isEmpty)
    #expect(world.isEqual("games"))
  }

  private static let pushing = [World.teams, World.games]

  private func pushWorld() async throws -> (world: World, engine: SyncEngine) {
    let world = try await World(Self.pushing)
    let engine = try await SyncEngine(
      schema: SyncSchema(Self.pushing), store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, random: RepeatedNumber())
    world.addTeams(1...3)
    world.addGame("g", home: "t1", away: "t2", date: "2020-01-01")
    _ = try await engine.sync()
    try await engine.cleanUp(Self.old)
    #expect(world.keys("games").isEmpty)
    return (world, engine)
  }

  private static let old = CleanupPolicy([
    .hide("games", olderThan: .seconds(365 * 86_400), by: .date("date"))
  ])
  private static let game = RecordID(type: "games", key: "g")

  @Test func isEditedOnTheCopyThatTheRemoteHasThoughWhatItReferredToHasGone() async throws {
    let (world, engine) = try await pushWorld()
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("games", "g", #"{"id":"g","home":"t1","away":"t2","date":"2020-01-01","theirs":1}"#)
    _ = try await engine.sync()
    try await engine.cleanUp(Self.old)
    world.remote.delete("teams", "t1")
    _ = try await engine.sync()
    #expect(world.keys("teams") == ["t2", "t3"])
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(Self.game) { $0["home"] = Array(#""t3""#.utf8)[...] }
    }
    // The server-managed fields stay.
    let shown = String(decoding: world.store.records(of: "games")[0].payload.bytes, as: UTF8.self)
    #expect(shown.contains(#""theirs":1"#))
    let result = try await engine.sync()
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.pending == 0)
    #expect(world.isEqual("games"))
    #expect(try await engine.status().allSatisfy { $0.withheld.isEmpty })
  }

  @Test func isRefusedAnEditThatWouldDangle() async throws {
    let (world, engine) = try await pushWorld()
    world.remote.delete("teams", "t1")
    _ = try await engine.sync()
    await #expect {
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(Self.game) { $0["note"] = Array("1".utf8)[...] }
      }
    } throws: {
      ($0 as? SyncError)?.code == .invalidEdit && "\($0)".contains("t1")
    }
    #expect(world.keys("games").isEmpty)
    #expect(try await engine.status().first { $0.type == "games" }?.withheld == [.hidden: 1])
  }

  @Test func isNotLeftWithoutWhatItRefersTo() async throws {
    let (world, engine) = try await pushWorld()
    await #expect {
      try await engine.edits.delete(RecordID(type: "teams", key: "t1"))
    } throws: {
      ($0 as? SyncError)?.code == .invalidEdit && "\($0)".contains("hidden record games/g")
    }
    try await engine.edits.delete(RecordID(type: "teams", key: "t3"))
    // The error message recommends this.
    try await engine.edits.delete(Self.game)
    try await engine.edits.delete(RecordID(type: "teams", key: "t1"))
    #expect(try await engine.sync().pushed.accepted == 3)
    #expect(world.remote.records(of: "games").isEmpty)
    #expect(world.remote.records(of: "teams").map(\.key) == ["t2"])
  }

  @Test func isDeletedByIdWithoutBringingBackWhatItRefersTo() async throws {
    let (world, engine) = try await pushWorld()
    try await engine.cleanUp(
      CleanupPolicy([.hide("teams", where: .all([])), Self.old.rules[0]]))
    #expect(world.keys("teams").isEmpty)
    try await engine.edits.delete(Self.game)
    #expect(world.keys("teams").isEmpty)
    #expect(try await engine.sync().pushed.accepted == 1)
    #expect(world.remote.records(of: "games").isEmpty)
    #expect(try await engine.status().first { $0.type == "games" }?.withheld.isEmpty == true)
  }

  @Test func staysHiddenBesideACopyThatTheAppHasDeleted() async throws {
    let (world, engine) = try await pushWorld()
    try await engine.edits.delete(Self.game)
    try await engine.cleanUp(CleanupPolicy([.hide("teams", where: .all([])), Self.old.rules[0]]))
    world.remote.rule(.refused(reason: "no rights"), on: "games", "g")
    _ = try await engine.sync()
    let result = try await engine.resync()
    #expect(result["games"].fetched == 1)
    #expect(result["teams"].replayed == 0, "A team was shown for a game that readers do not see.")
    #expect(world.keys("teams").isEmpty)
    #expect(try await asides(world, "teams") == [.hidden: 3])
  }

  @Test func isShownAgainByAnEditThatChangesNothing() async throws {
    let (world, engine) = try await pushWorld()
    try await engine.edits.perform { (batch) throws(SyncError) in try batch.set(Self.game) { _ in } }
    #expect(world.keys("games") == ["g"])
    #expect(try await engine.edits.pending("games").isEmpty)
    #expect(try await engine.status().first { $0.type == "games" }?.withheld.isEmpty == true)
  }

  @Test func isParkedWhereSomethingRefersToItWhoseOwnTargetHasGone() async throws {
    let folders = Entity("folders", references: [.to("folders", by: "parent")], indexes: ["old"])
    let world = try await World([folders])
    world.remote.upsert("folders", "a", #"{"parent":null}"#)
    world.remote.upsert("folders", "b", #"{"parent":"a","old":1}"#)
    _ = try await world.engine.sync()
    try await world.engine.cleanUp(CleanupPolicy([.hide("folders", where: .equal("old", 1))]))
    world.remote.delete("folders", "a")
    _ = try await world.engine.sync()
    world.remote.upsert("folders", "c", #"{"parent":"b"}"#)
    _ = try await world.engine.sync()
    #expect(try await asides(world, "folders") == [.parked: 2])
    world.remote.upsert("folders", "a", #"{"parent":null}"#)
    _ = try await world.engine.sync()
    #expect(world.keys("folders") == ["a", "b", "c"])
    #expect(try await asides(world, "folders").isEmpty)
  }

  /// A listing leaves an unchanged hidden record hidden.
  ///
  /// It shows the record if another listed record refers to it.
  @Test func isShownByAListingThatHoldsItBesideWhatRefersToIt() async throws {
    let world = try await World([Entity("nodes", references: [.to("nodes", by: "next")])])
    world.remote.upsert("nodes", "a", #"{"id":"a"}"#)
    _ = try await world.engine.sync()
    try await world.engine.cleanUp(CleanupPolicy([.hide("nodes", where: .all([]))]))
    #expect(world.keys("nodes").isEmpty)
    world.remote.upsert("nodes", "b", #"{"id":"b","next":"a"}"#)
    _ = try await world.engine.resync()
    #expect(world.keys("nodes") == ["a", "b"])
    let counts = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.withheldCounts("nodes")
    }
    #expect(counts.isEmpty)
  }

  /// An interrupted listing holds the state before an edit that was accepted since.
  @Test func isShownByAListingThatHoldsAnOlderCopyBesideWhatRefersToIt() async throws {
    let nodes = Entity("nodes", references: [.to("nodes", by: "next")])
    let world = try await World()
    let engine = try await SyncEngine(
      schema: SyncSchema([nodes]), store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, options: SyncOptions(pageSize: 2, pagesAhead: 0), random: RepeatedNumber())
    for key in ["a", "b", "c"] { world.remote.upsert("nodes", key, #"{"id":"\#(key)"}"#) }
    _ = try await engine.sync()
    world.remote.upsert("nodes", "d", #"{"id":"d","next":"c"}"#)
    world.remote.expireTokens()
    let token = FlagToken()
    let requests = Mutex(0)
    world.remote.onRequest = { _ in
      let count = requests.withLock { requests in
        requests += 1
        return requests
      }
      // After the expired token, the first page, and a question about the token.
      if count == 4 { token.isCancelled = true }
    }
    #expect(try await engine.sync(token: token).wasCancelled)
    world.remote.onRequest = nil
    world.clock.advance(by: .seconds(10))
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "nodes", key: "c")) { $0["name"] = Array("1".utf8)[...] }
    }
    #expect(try await engine.push().pushed.accepted == 1)
    try await engine.cleanUp(CleanupPolicy([.hide("nodes", where: .all([]))]))
    #expect(world.keys("nodes").isEmpty)
    _ = try await engine.sync()
    #expect(world.keys("nodes") == ["c", "d"])
    #expect(try await engine.status()[0].withheld == [.hidden: 2])
    #expect(world.store.records(of: "nodes")[0].payload == world.remote.records(of: "nodes")[2].payload)
  }
}
