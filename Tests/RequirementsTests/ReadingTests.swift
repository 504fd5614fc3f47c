import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncJSON
import Testing

@Suite("Reading, bootstrap, observation", .timeLimit(.minutes(10)))
struct ReadingTests {
  @Test(
    "R5.1: typed reads are complete, filtered in the store, with references, and without the remote",
    arguments: StoreKind.allCases)
  func typedReadsAreWhole(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      for number in 1...162 {
        let date = "20\(String(number + 100).suffix(2))-04-01"
        setting.remote.upsert(
          "games", "g\(number)", #"{"id":"g\#(number)","home":"t\#(number % 2 + 1)","date":"\#(date)"}"#)
      }
      let engine = try await setting.engine()
      _ = try await engine.sync()
      let asked = setting.remote.counters().requests
      #expect(try await engine.records.all(Game.self).count == 162)
      let range = Condition.range("date", from: "2010-01-01", to: "2019-12-31") && !.equal("home", "t1")
      let games = try await engine.records.filter(
        Game.self, where: range, order: [.descending("date")], limit: 5)
      #expect(games.count == 5)
      #expect(games.map(\.date) == games.map(\.date).sorted(by: >))
      #expect(games.allSatisfy { $0.home == "t2" && $0.date >= "2010" && $0.date < "2020" })
      let either = Condition.isIn("home", ["t1"]) || .equal("home", "t2")
      #expect(try await engine.records.count(Game.self, where: either) == 162)
      let full = try await engine.records.filter(Game.self, limit: 1, including: ["home"])
      #expect(try full.first?.reference("home", as: Team.self) != nil)
      #expect(setting.remote.counters().requests == asked)
    }
  }

  @Test(
    "R5.2: a bundled data set is there at once, and its token makes the first sync a delta",
    arguments: StoreKind.allCases)
  func bundlesAreDeltaStarts(_ kind: StoreKind) async throws {
    for configuration in [InMemoryRemote.Configuration.privateZone, .publicDatabase()] {
      try await withSetting(kind, configuration) { setting in
        setting.addTeams(1...50)
        // Longer than the overlap of a delta by times.
        setting.clock.advance(by: .seconds(60))
        // The source of the bundle: another store's complete pull, and its token.
        let maker = InMemoryStore(leaseClock: { setting.clock.timestamp })
        let schema = try SyncSchema(Setting.teams)
        _ = try await SyncEngine(schema: schema, store: maker, source: setting.remote, clock: setting.clock)
          .sync()
        let token = try await maker.read { (snapshot) throws(SyncError) in
          try snapshot.checkpoint(for: "teams")?.committed
        }
        let rows = (1...50).map { #"{"id":"t\#($0)","name":"Team \#($0)"}"# }.joined(separator: ",")
        let quoted = String(decoding: JSONString.quoted(try #require(token).rawValue), as: UTF8.self)
        let document = #"{"format":1,"types":{"teams":{"token":\#(quoted),"records":[\#(rows)]}}}"#
        let bundle = Bootstrap(Array(document.utf8), layout: RecordLayout(modifiedAt: nil))
        let loaded = try await bundle.load(
          into: setting.store, schema: schema, source: setting.remote, clock: setting.clock)
        #expect(loaded.loaded == ["teams": 50])
        #expect(try await setting.keys("teams").count == 50)
        setting.clock.advance(by: .seconds(3600))
        setting.remote.upsert("teams", "t1", #"{"id":"t1","name":"changed"}"#)
        setting.remote.upsert("teams", "t51", #"{"id":"t51","name":"new"}"#)
        let first = try await setting.engine([Setting.teams]).sync()
        #expect(first.total.fetched == 2)
        #expect(try await setting.keys("teams").count == 51)
      }
    }
  }

  @Test("R5.3: the state of each type can be inspected", arguments: StoreKind.allCases)
  func statesCanBeLookedInto(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      setting.remote.putMalformed("teams", "bad", Array("{".utf8))
      let engine = try await setting.engine()
      _ = try await engine.sync()
      setting.clock.advance(by: .seconds(100))
      try await engine.edits.upsert(Game(home: "t1", date: "2026-04-01"), key: "g")
      setting.remote.behave(.fail(SyncError(.permissionDenied, during: "listing")), onNext: 1, of: "teams")
      _ = try await engine.sync(SyncRequest(direction: .pull))
      let reports = try await engine.status()
      let (teams, games) = (reports[0], reports[1])
      #expect(teams.passes.lastError?.code == "permissionDenied")
      #expect(teams.passes.consecutiveFailures == 1)
      #expect(teams.withheld[.quarantined] == 1)
      #expect(teams.tokenAge == .seconds(100))
      #expect(teams.passes.lastSuccess == setting.clock.timestamp - .seconds(100))
      #expect(teams.passes.lastAttempt == setting.clock.timestamp)
      // The other type completed, and shows no failure.
      #expect(games.passes.lastError == nil)
      #expect(games.passes.consecutiveFailures == 0)
      #expect(games.pending == 1)
      // Half of the attempts at the teams succeeded, and their data are as old as that success.
      #expect(teams.passes.successRate == 0.5)
      #expect(teams.dataAge == .seconds(100))
    }
  }

  @Test("R5.4: success rates and the data's age have stable names", arguments: StoreKind.allCases)
  func ratesAndAgesHaveNames(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      let counters = MetricsObserver(clock: setting.clock)
      let engine = try await SyncEngine(
        schema: SyncSchema(Setting.teams), store: setting.store, source: setting.remote, clock: setting.clock,
        options: SyncOptions(retry: RetryPolicy(attempts: 1)), observers: [counters])
      _ = try await engine.sync()
      setting.clock.advance(by: .seconds(90))
      setting.remote.behave(.fail(SyncError(.permissionDenied, during: "listing")), onNext: 1)
      _ = try await engine.sync()
      let lines = counters.metrics.prometheusText.split(separator: "\n")
      #expect(lines.contains(#"canonicalsync_type_success_ratio{type="teams"} 0.5"#))
      #expect(lines.contains(#"canonicalsync_type_age_seconds{type="teams"} 90"#))
      // The store keeps the same numbers for its whole life.
      let report = try #require(try await engine.status().first)
      let stored = report.metrics.prometheusText.split(separator: "\n")
      #expect(stored.contains(#"canonicalsync_store_success_ratio{type="teams"} 0.5"#))
      #expect(stored.contains(#"canonicalsync_store_age_seconds{type="teams"} 90"#))
    }
  }

  @Test("R5.4: observers, a log and counters report events and progress", arguments: StoreKind.allCases)
  func whatHappensIsSeen(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...20)
      let counters = MetricsObserver()
      let engine = try await SyncEngine(
        schema: SyncSchema(Setting.teams), store: setting.store, source: setting.remote, clock: setting.clock,
        options: SyncOptions(pageSize: 10, pagesAhead: 0), observers: [setting.recorder, counters])
      let stream = engine.events()
      _ = try await engine.sync()
      let pages = setting.recorder.events.compactMap {
        if case .pageCommitted(let page) = $0 { page } else { nil }
      }
      #expect(pages.map(\.fraction) == [0.5, 1])
      let lines = counters.metrics.prometheusText.split(separator: "\n")
      #expect(lines.contains(#"canonicalsync_syncs_total{outcome="finished"} 1"#))
      #expect(lines.contains(#"canonicalsync_changes_total{type="teams",outcome="inserted"} 20"#))
      for await event in stream {
        if case .finished(let result) = event {
          #expect(result.total.inserted == 20)
          break
        }
      }
    }
  }

  @Test("R5.5: an app can await what a sync changed", arguments: StoreKind.allCases)
  func changesCanBeAwaited(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      let engine = try await setting.engine()
      var changes = engine.changes().makeAsyncIterator()
      _ = try await engine.sync()
      guard case .records(let ids)? = try await changes.next() else {
        Issue.record("nothing is reported")
        return
      }
      #expect(Set(ids.map(\.key)) == ["t1", "t2"])
    }
  }

  @Test(
    "R5.6: each failure has a code to act on, and leaves local data usable", arguments: StoreKind.allCases)
  func failuresHaveCodes(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      let engine = try await setting.engine(
        [Setting.teams], options: SyncOptions(retry: RetryPolicy(attempts: 1)))
      _ = try await engine.sync()
      for code in [SyncError.Code.remoteUnavailable, .authentication] {
        setting.remote.behave(.fail(SyncError(code, during: "listing")), onNext: 1)
        await #expect { try await engine.sync() } throws: { ($0 as? SyncError)?.code == code }
        #expect(try await engine.records.all(Team.self).count == 2)
      }
      setting.remote.expireTokens()
      #expect(try await engine.sync().failures.isEmpty)
      await #expect { try await engine.edits.delete(RecordID(type: "unknown", key: "x")) } throws: {
        ($0 as? SyncError)?.code == .invalidConfiguration
      }
    }
  }
}
