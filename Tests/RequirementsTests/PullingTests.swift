import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Pulling records", .timeLimit(.minutes(10)))
struct PullingTests {
  @Test("R1.1: every page arrives, even after short or empty ones", arguments: StoreKind.allCases)
  func everyPageArrives(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...1700)
      setting.remote.behave(.shortPage(3), on: 2, of: "teams")
      setting.remote.behave(.emptyPage, on: 3, of: "teams")
      let result = try await setting.engine().sync()
      #expect(result["teams"].inserted == 1700)
      #expect(try await setting.keys("teams").count == 1700)
      #expect(setting.remote.requestLog.first?.limit == 400)
    }
  }

  @Test(
    "R1.2: the first sync lists all, later ones what the server changed since", arguments: StoreKind.allCases)
  func laterSyncsAreDeltas(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      for (key, date) in [("old", "1998-05-01"), ("new", "2026-05-01")] {
        setting.remote.upsert("games", key, #"{"id":"\#(key)","home":"t1","date":"\#(date)"}"#)
      }
      let engine = try await setting.engine()
      #expect(try await engine.sync().total.inserted == 4)
      setting.clock.advance(by: .seconds(60))
      // The record's own date is decades old. The server's modification time counts.
      setting.remote.upsert("games", "old", #"{"id":"old","home":"t2","date":"1998-05-01"}"#)
      let delta = try await engine.sync()
      #expect(delta.total.fetched == 1)
      #expect(delta["games"].updated == 1)
    }
  }

  @Test("R1.3: a page is committed before more than one further page is read", arguments: StoreKind.allCases)
  func recordsStream(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...200)
      let recorder = setting.recorder
      let worst = Mutex(0)
      let asked = Mutex(0)
      setting.remote.onRequest = { _ in
        let committed = recorder.events.count { if case .pageCommitted = $0 { true } else { false } }
        let number = asked.withLock { asked in
          asked += 1
          return asked
        }
        worst.withLock { $0 = max($0, number - committed) }
      }
      let options = SyncOptions(pageSize: 10, pagesAhead: 1)
      _ = try await setting.engine([Setting.teams], options: options).sync()
      // One page is being committed and one fetched ahead. The third request follows the first
      // commit.
      #expect(worst.withLock { $0 } <= 2)
      #expect(try await setting.keys("teams").count == 200)
    }
  }

  @Test(
    "R1.4: the token is the remote's, from before the first page, and saved when the pass is complete",
    arguments: StoreKind.allCases)
  func theTokenIsTheRemotes(_ kind: StoreKind) async throws {
    try await withSetting(kind, .timestampedCollection()) { setting in
      setting.addTeams(1...30)
      let (remote, store) = (setting.remote, setting.store)
      let midway = Mutex<Checkpoint?>(nil)
      remote.onRequest = { request in
        guard request.position != .start(since: nil), midway.withLock({ $0 }) == nil else { return }
        let checkpoint = try? await store.read { (snapshot) throws(SyncError) in
          try snapshot.checkpoint(for: "teams")
        }
        midway.withLock { $0 = checkpoint }
        remote.upsert("teams", "t1", #"{"id":"t1","name":"written meanwhile"}"#)
      }
      // The client's own clock is a year ahead. The watermark does not come from it.
      let own = ManualClock(timestamp: setting.clock.timestamp + .seconds(365 * 86_400))
      let engine = try await SyncEngine(
        schema: SyncSchema(Setting.teams), store: store, source: remote, clock: own,
        options: SyncOptions(pageSize: 10, pagesAhead: 0), random: RepeatedNumber())
      _ = try await engine.sync()
      remote.onRequest = nil
      #expect(midway.withLock { $0 } != nil)
      #expect(midway.withLock { $0?.committed } == nil)
      setting.clock.advance(by: .seconds(60))
      _ = try await engine.sync()
      #expect(try await setting.member("name", of: "t1", "teams") == #""written meanwhile""#)
    }
  }

  @Test(
    "R1.5: equal times and late commits lose nothing and apply nothing twice", arguments: StoreKind.allCases)
  func boundariesAreExact(_ kind: StoreKind) async throws {
    var configuration = InMemoryRemote.Configuration.timestampedCollection(overlap: .seconds(10))
    configuration.timeGranularity = .seconds(5)
    try await withSetting(kind, configuration) { setting in
      let engine = try await setting.engine([Setting.teams])
      setting.addTeams(1...5)
      // By its time written before the sync, and visible after it.
      let late = setting.remote.prepareUpsert("teams", "late", #"{"id":"late","name":"late"}"#)
      #expect(try await engine.sync().total.inserted == 5)
      setting.addTeams(6...7)
      late.commit()
      let second = try await engine.sync().total
      #expect(second.inserted == 3)
      #expect(second.updated == 0)
      #expect(try await setting.keys("teams").count == 8)
    }
  }

  @Test(
    "R1.6: types sync after those that they refer to; a cycle is refused at set-up",
    arguments: StoreKind.allCases)
  func typesSyncInOrder(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let sports = Entity("sports")
      let stadiums = Entity("stadiums", references: [.to("sports", by: "sport")])
      let teams = Entity("teams", references: [.to("stadiums", by: "stadium")])
      _ = try await setting.engine([Setting.games, teams, stadiums, sports]).sync()
      #expect(setting.remote.requestLog.map(\.entity.type) == ["sports", "stadiums", "teams", "games"])
      #expect {
        try SyncSchema(
          Entity("a", references: [.to("b", by: "b")]), Entity("b", references: [.to("a", by: "a")]))
      } throws: {
        let error = $0 as? SyncError
        return error?.code == .invalidConfiguration && error?.message.contains("cycle") == true
      }
    }
  }

  @Test(
    "R1.7: an interrupted sync resumes at its page and marks nothing unfinished as done",
    arguments: StoreKind.allCases)
  func interruptedSyncsResume(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...100)
      let token = FlagToken()
      setting.remote.onRequest = { request in
        if request.position != .start(since: nil) { token.isCancelled = true }
      }
      let options = SyncOptions(pageSize: 10, pagesAhead: 0)
      let cut = try await setting.engine([Setting.teams], options: options).sync(token: token)
      setting.remote.onRequest = nil
      #expect(cut.wasCancelled)
      #expect(try await setting.checkpoint("teams")?.committed == nil)
      // Another engine, as after a restart.
      let rest = try await setting.engine([Setting.teams], options: options).sync()
      #expect(cut.total.fetched > 0)
      #expect(cut.total.fetched + rest.total.fetched == 100)
      #expect(try await setting.checkpoint("teams")?.committed != nil)
    }
  }

  @Test(
    "R1.8: the result counts each change by its outcome, and reports an empty sync",
    arguments: StoreKind.allCases)
  func resultsCount(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let engine = try await setting.engine()
      setting.addTeams(1...3)
      setting.remote.upsert("games", "g", #"{"id":"g","home":"nowhere","date":"2026-04-01"}"#)
      setting.remote.putMalformed("games", "p", Array("{".utf8))
      let first = try await engine.sync()
      #expect(first["teams"].inserted == 3)
      #expect(first["games"].deferred == 1)
      #expect(first["games"].quarantined == 1)
      #expect(first.total.outcomes == first.total.fetched)
      #expect(!first.isEmpty)
      setting.clock.advance(by: .seconds(1))
      setting.remote.upsert("teams", "t1", #"{"id":"t1","name":"renamed"}"#)
      setting.remote.delete("teams", "t2")
      let second = try await engine.sync()
      #expect(second["teams"].updated == 1)
      #expect(second["teams"].deleted == 1)
      let third = try await engine.sync()
      #expect(third.isEmpty)
      #expect(!third.wasCancelled)
    }
  }

  @Test(
    "R1.9: records of a newer schema are kept, and applied whole after the upgrade",
    arguments: StoreKind.allCases)
  func newerSchemasAreKept(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let before = Entity("teams", schemaVersion: 1, schemaVersionField: "schema")
      setting.remote.upsert("teams", "t", #"{"id":"t","schema":2,"mascot":"owl"}"#)
      let result = try await setting.engine([before]).sync()
      #expect(result["teams"].skippedIncompatible == 1)
      #expect(try await setting.keys("teams").isEmpty)
      let after = Entity("teams", schemaVersion: 2, schemaVersionField: "schema")
      _ = try await setting.engine([after]).sync()
      #expect(try await setting.member("mascot", of: "t", "teams") == #""owl""#)
    }
  }

  @Test("R1.10: a malformed record is kept with its bytes and the reason", arguments: StoreKind.allCases)
  func malformedRecordsAreKept(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      setting.remote.putMalformed("teams", "t3", Array(#"{"id":"t3","#.utf8))
      let engine = try await setting.engine()
      let result = try await engine.sync()
      #expect(result["teams"].inserted == 2)
      #expect(result["teams"].quarantined == 1)
      guard case .malformed(let malformed)? = try await setting.withheld("teams").first?.change else {
        Issue.record("nothing is withheld")
        return
      }
      #expect(malformed.bytes.bytes.elementsEqual(#"{"id":"t3","#.utf8))
      #expect(!malformed.reason.isEmpty)
      // A record of another shape than the requested type is listed as well.
      setting.remote.upsert("teams", "t4", #"{"id":"t4","name":4}"#)
      _ = try await engine.sync()
      #expect(try await engine.records.all(Team.self).count == 2)
      #expect(try await engine.records.undecodable(Team.self).map(\.id.key) == ["t4"])
      #expect(
        try await engine.explain(RecordID(type: "teams", key: "t3")).description.contains("quarantined"))
    }
  }

  @Test(
    "R1.11: deletions arrive by tombstone, or by sweep without tombstones", arguments: StoreKind.allCases)
  func deletionsArrive(_ kind: StoreKind) async throws {
    for configuration in [InMemoryRemote.Configuration.privateZone, .fullOnly] {
      try await withSetting(kind, configuration) { setting in
        setting.addTeams(1...3)
        let engine = try await setting.engine()
        _ = try await engine.sync()
        setting.clock.advance(by: .seconds(10))
        setting.remote.delete("teams", "t2")
        let result = try await engine.sync()
        #expect(result["teams"].deleted == 1)
        #expect(result["teams"].swept == (configuration.sendsTombstones ? 0 : 1))
        #expect(try await setting.keys("teams") == ["t1", "t3"])
      }
    }
  }

  @Test(
    "R1.12: a second caller is refused at once, or joins, also between processes",
    arguments: StoreKind.allCases)
  func oneSyncAtATime(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...3)
      let (engine, other) = (try await setting.engine(), try await setting.engine())
      setting.remote.behave(.hang, onNext: 1)
      async let first = engine.sync()
      await setting.remote.waitUntilRequestHangs()
      await #expect { try await engine.sync() } throws: { ($0 as? SyncError)?.code == .syncAlreadyInProgress }
      await #expect { try await other.sync() } throws: { ($0 as? SyncError)?.code == .syncAlreadyInProgress }
      async let joined = engine.sync(SyncRequest(ifBusy: .join))
      setting.remote.behaveWell()
      setting.remote.releaseHanging()
      #expect(try await first["teams"].inserted == 3)
      _ = try await joined
      #expect(try await setting.keys("teams").count == 3)
    }
  }
}
