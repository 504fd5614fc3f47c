import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("Once a declaration has changed,", .timeLimit(.minutes(10)))
struct ChangedDeclarationTests {
  private static let teams = Entity("teams")
  private static let games = Entity("games", references: [.to("teams", by: "team")])
  private static let looseGames = Entity("games", references: [.to("teams", by: "team", ordered: false)])
  private static let alarms = Entity("alarms", references: [.to("games", by: "game")])

  @Test func rowsOfATypeThatIsNotDeclaredHoldNoDeletion() async throws {
    let table = WithheldTable()
    for key in ["t", "u", "v"] { table.remote.upsert("teams", key, "{}") }
    for key in ["t", "u", "v"] { table.remote.upsert("games", "g\(key)", #"{"team":"\#(key)"}"#) }
    _ = try await table.engine(Self.teams, Self.games).sync()
    table.remote.delete("teams", "t")
    _ = try await table.engine(Self.teams, Self.games).sync()
    #expect(table.keys("teams") == ["t", "u", "v"])
    let next = try await table.engine(Self.teams, Entity("clubs", references: [.to("teams", by: "team")]))
    table.remote.delete("teams", "u")
    _ = try await next.sync()
    #expect(table.keys("teams") == ["v"])
    try await next.edits.delete(RecordID(type: "teams", key: "v"))
    #expect(try await next.sync().pushed.accepted == 1)
    // After the new declaration, the records stay hidden until their references are shown.
    let again = try await table.engine(Self.teams, Self.games)
    _ = try await again.sync()
    #expect(table.keys("games") == [])
    table.remote.upsert("teams", "t", "{}")
    _ = try await again.sync()
    #expect(table.keys("games") == ["gt"])
  }

  @Test func copiesOfATypeThatIsNotDeclaredKeepNoOthersWaiting() async throws {
    let table = WithheldTable()
    let old = Entity("alarms", references: [.to("teams", by: "team")])
    for n in 0..<900 { table.remote.upsert("alarms", "a\(n)", #"{"team":"t"}"#) }
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    _ = try await table.engine(Self.teams, Self.games, old).sync()
    table.remote.upsert("teams", "t", "{}")
    let next = try await table.engine(Self.teams, Self.games)
    _ = try await next.sync()
    #expect(table.keys("games") == ["g"])
    // None of their records is lost.
    _ = try await table.engine(Self.teams, Self.games, old).sync()
    #expect(table.keys("alarms").count == 900)
  }

  @Test func whatDanglesByAnAddedReferenceIsWithheldWithWhatRefersToIt() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    for n in 0..<500 { table.remote.upsert("games", "h\(n)", #"{"team":"nowhere"}"#) }
    for n in 0..<900 { table.remote.upsert("alarms", "a\(n)", #"{"game":"h7"}"#) }
    let loose = Entity("games")
    _ = try await table.engine(Self.teams, loose, Self.alarms).sync()
    #expect(table.keys("alarms").count == 900)
    let next = try await table.engine(Self.teams, Self.games, Self.alarms)
    let result = try await next.sync()
    #expect(table.keys("games") == ["g"])
    #expect(table.keys("alarms") == [])
    #expect(result["games"].replayed == 500)
    #expect(result["alarms"].replayed == 900)
    #expect(!result.isEmpty)
    let game = try #require(try await table.withheld(RecordID(type: "games", key: "h7")))
    #expect(game.kind == .parked)
    #expect(game.waitsFor == [RecordID(type: "teams", key: "nowhere")])
    #expect(game.reason.contains("teams/nowhere"))
    #expect(try await next.status().map { $0.withheld[.parked, default: 0] } == [0, 500, 900])
    // A second sync changes nothing, nor does a listing.
    #expect(try await next.sync().isEmpty)
    #expect(try await next.resync().total.swept == 0)
    table.remote.upsert("teams", "nowhere", "{}")
    _ = try await next.sync()
    #expect(table.keys("games").count == 501)
    #expect(table.keys("alarms").count == 900)
  }

  @Test func aHeldDeletionOfWhatDanglesIsCarriedOut() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", #"{"league":"nowhere"}"#)
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    let leagues = Entity("leagues")
    let old = try await table.engine(leagues, Self.teams, Self.games)
    _ = try await old.sync()
    table.remote.delete("teams", "t")
    _ = try await old.sync()
    #expect(try await table.withheld(RecordID(type: "teams", key: "t"))?.kind == .held)
    let teams = Entity("teams", references: [.to("leagues", by: "league")])
    let next = try await table.engine(leagues, teams, Self.games)
    let result = try await next.sync()
    #expect(result["teams"].replayed == 1)
    #expect(table.keys("teams") == [])
    #expect(table.keys("games") == [])
    #expect(try await table.withheld(RecordID(type: "teams", key: "t")) == nil)
    // What the remote has deleted does not come back with the record that it lacked.
    table.remote.upsert("leagues", "nowhere", "{}")
    _ = try await next.sync()
    #expect(table.keys("teams") == [])
  }

  @Test func aDataSetThatAMilderVersionLoadedIsReviewed() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    _ = try await table.engine(Self.teams, Self.games)
    let bundle = Bootstrap(
      Array(#"{"format":1,"types":{"games":{"records":[{"id":"g","team":"nowhere"}]}}}"#.utf8),
      layout: RecordLayout())
    table.remote.upsert("games", "g", #"{"id":"g","team":"nowhere"}"#)
    _ = try await bundle.load(
      into: table.store, schema: SyncSchema(Self.teams, Self.looseGames), source: table.remote,
      clock: table.clock)
    #expect(table.keys("games") == ["g"])
    // That version has never synced.
    let strict = try await table.engine(Self.teams, Self.games)
    _ = try await strict.sync()
    #expect(table.keys("games") == [])
    #expect(try await table.withheld(RecordID(type: "games", key: "g"))?.kind == .parked)
  }

  @Test(arguments: [nil, FieldName("number")])
  func whatAMilderVersionMadeIsWithheldOnceItIsPushed(_ numberField: FieldName?) async throws {
    let table = WithheldTable(numberField: numberField)
    table.remote.upsert("teams", "t", "{}")
    let milder = try await table.engine(Self.teams, Self.looseGames)
    _ = try await milder.sync()
    let strict = try await table.engine(Self.teams, Self.games)
    _ = try await strict.sync()
    try await milder.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "games", key: "g")) { $0["team"] = Array(#""nowhere""#.utf8)[...] }
    }
    #expect(try await strict.sync().pushed.accepted == 1)
    #expect(table.keys("games") == [])
    #expect(try await table.withheld(RecordID(type: "games", key: "g"))?.kind == .parked)
    table.remote.upsert("teams", "nowhere", "{}")
    _ = try await strict.sync()
    #expect(table.keys("games") == ["g"])
  }

  @Test func stagedCopiesAreReadByTheNewOne() async throws {
    let table = WithheldTable()
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    table.remote.upsert("games", "h", "{}")
    let options = SyncOptions(pageSize: 1, pagesAhead: 0)
    let source = CancellationSource()
    table.remote.onRequest = { request in
      if request.entity.type == "games", case .resume = request.position { source.cancel() }
    }
    let old = try await table.engine(
      Self.teams, Entity("games", visibility: .wholeEntity), options: options)
    #expect(try await old.sync(token: source)["games"].fetched == 1)
    table.remote.onRequest = nil
    let next = try await table.engine(
      Self.teams, Entity("games", references: Self.games.references, visibility: .wholeEntity),
      options: options)
    let counts = try await next.sync()["games"]
    // The copy that dangles by the added reference is never shown.
    #expect(counts.inserted == 1 && counts.replayed == 0)
    #expect(table.keys("games") == ["h"])
    #expect(try await table.withheld(RecordID(type: "games", key: "g"))?.kind == .parked)
  }

  @Test func whatATypeRefersToThatIsNewAsWellIsPulledFirst() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", #"{"league":"l"}"#)
    table.remote.upsert("leagues", "l", "{}")
    _ = try await table.engine(Self.teams).sync()
    let leagues = Entity("leagues")
    let teams = Entity("teams", references: [.to("leagues", by: "league")])
    let next = try await table.engine(leagues, teams)
    // This sync does not pull leagues. The record waits for one that does.
    _ = try await next.sync(SyncRequest(types: ["teams"]))
    #expect(table.keys("teams") == ["t"])
    #expect(try await next.sync()["teams"].replayed == 0)
    #expect(table.keys("teams") == ["t"])
  }

  @Test(arguments: [true, false])
  func whatWaitedForAReferenceThatIsNoLongerOrderedIsShown(_ isDeclared: Bool) async throws {
    let table = WithheldTable()
    for n in 0..<500 { table.remote.upsert("games", "g\(n)", #"{"team":"nowhere"}"#) }
    _ = try await table.engine(Self.teams, Self.games).sync()
    #expect(table.keys("games") == [])
    let next = try await table.engine(Self.teams, isDeclared ? Self.looseGames : Entity("games"))
    let result = try await next.sync()
    #expect(result["games"].replayed == 500)
    #expect(table.keys("games").count == 500)
    #expect(try await next.status().allSatisfy { $0.withheld.isEmpty })
  }

  @Test func whatIsReferredToElsewhereIsLookedForThere() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("clubs", "c", "{}")
    table.remote.upsert("games", "old", #"{"team":"t"}"#)
    table.remote.upsert("games", "new", #"{"team":"c"}"#)
    _ = try await table.engine(Self.teams, Entity("clubs"), Self.games).sync()
    #expect(table.keys("games") == ["old"])
    let games = Entity("games", references: [.to("clubs", by: "team")])
    _ = try await table.engine(Self.teams, Entity("clubs"), games).sync()
    #expect(table.keys("games") == ["new"])
  }

  @Test func itGoesOnWhereItWasStopped() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    for n in 0..<1000 { table.remote.upsert("games", "g\(n)", #"{"team":"nowhere"}"#) }
    _ = try await table.engine(Self.teams, Entity("games")).sync()
    let token = FlagToken()
    let next = try await SyncEngine(
      schema: SyncSchema(Self.teams, Self.games), store: table.store, source: table.remote,
      clock: table.clock, observers: [AfterPages(3) { token.isCancelled = true }], random: RepeatedNumber())
    #expect(try await next.sync(token: token).wasCancelled)
    let left = table.keys("games").count
    #expect(left == 600)
    token.isCancelled = false
    #expect(try await next.sync(token: token)["games"].replayed == 600)
    #expect(table.keys("games") == [])
  }

  @Test func theVersionThatRegisteredLastDecides() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    table.remote.upsert("games", "h", #"{"team":"nowhere"}"#)
    let older = try await table.engine(Self.teams, Self.looseGames)
    _ = try await older.sync()
    #expect(table.keys("games") == ["g", "h"])
    let newer = try await table.engine(Self.teams, Self.games)
    for _ in 1...2 {
      _ = try await newer.sync()
      #expect(table.keys("games") == ["g"])
      await #expect(throws: SyncError.self) { try await older.sync() }
    }
    // The older version goes on reading and editing.
    #expect(try await older.explain(RecordID(type: "games", key: "g")).live != nil)
    try await older.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "u")) { $0["name"] = Array(#""u""#.utf8)[...] }
    }
    #expect(try await newer.sync().pushed.accepted == 1)
    // Once it is made anew, it decides.
    let restarted = try await table.engine(Self.teams, Self.looseGames)
    #expect(try await restarted.sync()["games"].replayed == 1)
    #expect(table.keys("games") == ["g", "h"])
    do throws(SyncError) {
      _ = try await newer.sync()
      Issue.record("The newer version synced by declarations that have been replaced.")
    } catch {
      #expect(error.code == .declarationsReplaced)
      #expect(error.message.contains("restart the process"))
    }
  }

  /// The pages before stay, and the newer version goes on from there.
  @Test func aSyncThatAnotherVersionRegistersBesideIsRefusedAtItsNextPage() async throws {
    let table = WithheldTable()
    for n in 0..<6 { table.remote.upsert("games", "g\(n)", #"{"team":"nowhere"}"#) }
    let older = try await table.engine(
      Self.teams, Self.looseGames, options: SyncOptions(pageSize: 2, pagesAhead: 0))
    table.remote.behave(.hang, on: 3)
    let sync = Task { try await older.sync() }
    await table.remote.waitUntilRequestHangs()
    let shown = table.keys("games").count
    let newer = try await table.engine(Self.teams, Self.games)
    table.remote.releaseHanging()
    let error = await #expect(throws: SyncError.self) { try await sync.value }
    #expect(error?.code == .declarationsReplaced)
    #expect(table.keys("games").count == shown)
    _ = try await newer.sync()
    #expect(table.keys("games").isEmpty)
    table.remote.upsert("teams", "nowhere", "{}")
    _ = try await newer.sync()
    #expect(table.keys("games").count == 6)
  }

  @Test func anEngineWithReplacedDeclarationsNeitherCleansUpNorRebuilds() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    let older = try await table.engine(Entity("teams", naturalKey: NaturalKey("code")), Entity("games"))
    _ = try await older.sync()
    _ = try await table.engine(Entity("teams", naturalKey: NaturalKey("code")), Self.games)
    // By the older version's declarations, no record refers to the team.
    let policy = CleanupPolicy([.hide("teams", where: .all([]))])
    let cleanUp = await #expect(throws: SyncError.self) { try await older.cleanUp(policy) }
    #expect(cleanUp?.code == .declarationsReplaced)
    let rebuild = await #expect(throws: SyncError.self) {
      try await older.rebuildDuplicates(of: "teams", version: 1)
    }
    #expect(rebuild?.code == .declarationsReplaced)
    #expect(table.keys("teams") == ["t"])
  }

  @Test func whatAVersionParkedThatDidNotComeToItsEndIsShownByTheNext() async throws {
    let table = WithheldTable()
    _ = try await table.engine(Self.teams, Self.looseGames).sync()
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    // This sync lists only games, and cannot determine yet which records to withhold.
    let strict = try await table.engine(
      Self.teams, Entity("clubs"),
      Entity("games", references: [.to("teams", by: "team"), .to("clubs", by: "club")]))
    _ = try await strict.sync(SyncRequest(types: ["games"]))
    #expect(try await table.withheld(RecordID(type: "games", key: "g"))?.kind == .parked)
    _ = try await table.engine(Self.teams, Self.looseGames).sync()
    #expect(table.keys("games") == ["g"])
  }

  @Test func whatAVersionShowedThatDidNotComeToItsEndIsWithheldAgain() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", #"{"league":"nowhere"}"#)
    table.remote.upsert("games", "g", #"{"team":"t","away":"nowhere"}"#)
    let (leagues, team) = (Entity("leagues"), Reference.to("teams", by: "team"))
    let strictTeams = Entity("teams", references: [.to("leagues", by: "league")])
    let strictGames = Entity("games", references: [team, .to("teams", by: "away")])
    let strict = try await table.engine(leagues, strictTeams, strictGames)
    _ = try await strict.sync()
    let token = FlagToken()
    let mild = try await SyncEngine(
      schema: SyncSchema(leagues, Self.teams, Entity("games", references: [team])), store: table.store,
      source: table.remote, clock: table.clock, observers: [AfterPages(1) { token.isCancelled = true }],
      random: RepeatedNumber())
    // The sync ends after the teams, and shows the game that waited for one of them.
    #expect(try await mild.sync(token: token).wasCancelled)
    #expect(table.keys("games") == ["g"])
    _ = try await table.engine(leagues, strictTeams, strictGames).sync()
    #expect(table.keys("games") == [])
    #expect(table.keys("teams") == [])
  }

  @Test func aRebuildByAnotherNaturalKeyIsDoneAnew() async throws {
    let table = WithheldTable()
    table.remote.upsert("meters", "m1", #"{"mac":"a","serial":"1"}"#)
    table.clock.advance(by: .seconds(1))
    table.remote.upsert("meters", "m2", #"{"mac":"b","serial":"1"}"#)
    let old = try await table.engine(Entity("meters", naturalKey: NaturalKey("mac")))
    _ = try await old.sync()
    #expect(try await old.rebuildDuplicates(of: "meters", version: 1).wasDone == false)
    let next = try await table.engine(Entity("meters", naturalKey: NaturalKey("serial")))
    _ = try await next.sync()
    #expect(table.keys("meters") == ["m1", "m2"])
    #expect(try await next.rebuildDuplicates(of: "meters", version: 1).wasDone == false)
    #expect(table.keys("meters") == ["m2"])
    _ = try await next.sync()
    #expect(try await next.rebuildDuplicates(of: "meters", version: 1).wasDone)
  }
}
