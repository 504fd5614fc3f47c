import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("Local edits going out", .timeLimit(.minutes(10)))
struct EditingTests {
  /// A second device: its own clock, its own store of the same kind, the same remote.
  private func withTwo(
    _ kind: StoreKind, _ entities: [Entity] = [Setting.teams], edits: EditOptions = EditOptions(),
    _ story: (Setting, SyncEngine, Setting, SyncEngine) async throws -> Void
  ) async throws {
    try await withSetting(kind) { one in
      try await withStore(kind, one.clock) { store in
        let two = Setting(clock: one.clock, remote: one.remote, store: store)
        try await story(one, one.engine(entities, edits: edits), two, two.engine(entities, edits: edits))
      }
    }
  }

  @Test(
    "R3.1: an edit is visible at once, waits in the outbox, and is pushed later",
    arguments: StoreKind.allCases)
  func editsAreSeenAtOnce(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let engine = try await setting.engine()
      var changes = engine.changes().makeAsyncIterator()
      try await engine.edits.upsert(Team(name: "Owls"), key: "t")
      #expect(try await changes.next() == .records([RecordID(type: "teams", key: "t")]))
      #expect(try await engine.records.find(Team.self, key: "t")?.value == Team(name: "Owls"))
      #expect(try await engine.edits.pending("teams").count == 1)
      #expect(setting.remote.records(of: "teams").isEmpty)
      _ = try await engine.sync()
      #expect(try setting.remoteMember("name", of: "t", "teams") == #""Owls""#)
      #expect(try await engine.edits.pending("teams").isEmpty)
      // An invalid edit leaves neither row nor entry.
      await #expect(throws: SyncError.self) {
        try await engine.edits.upsert(Game(home: "nowhere", date: "2026-04-01"), key: "g")
      }
      #expect(try await setting.keys("games").isEmpty)
      #expect(try await engine.edits.pending("games").isEmpty)
    }
  }

  @Test(
    "R3.2: an offline sync fails at once; the outbox drains when the network is back",
    arguments: StoreKind.allCases)
  func offlineKeepsTheQueue(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let network = ManualConnectivity(.offline)
      let engine = try await setting.engine(connectivity: network)
      try await engine.edits.upsert(Team(name: "Owls"), key: "t")
      await #expect { try await engine.sync() } throws: { ($0 as? SyncError)?.code == .offline }
      #expect(setting.remote.pushCounters.requests == 0)
      #expect(try await engine.edits.pending("teams").count == 1)
      network.connectivity = .online
      #expect(try await engine.sync().pushed.accepted == 1)
    }
  }

  @Test("R3.3: the last write wins, whether it arrives first or last", arguments: StoreKind.allCases)
  func theLastWriteWins(_ kind: StoreKind) async throws {
    for isFirstToPush in [true, false] {
      try await withTwo(kind) { one, a, two, b in
        one.remote.upsert("teams", "t", #"{"id":"t","name":"before"}"#)
        _ = try await a.sync()
        _ = try await b.sync()
        one.clock.advance(by: .seconds(100))
        try await a.edits.upsert(Team(name: "A at 10:00:00"), key: "t")
        one.clock.advance(by: .seconds(5))
        try await b.edits.upsert(Team(name: "B at 10:00:05"), key: "t")
        for engine in isFirstToPush ? [a, b, a, b] : [b, a, b, a] {
          one.clock.advance(by: .seconds(5))
          _ = try await engine.sync()
        }
        #expect(try one.remoteMember("name", of: "t", "teams") == #""B at 10:00:05""#)
        #expect(try await one.member("name", of: "t", "teams") == #""B at 10:00:05""#)
        #expect(try await two.member("name", of: "t", "teams") == #""B at 10:00:05""#)
      }
    }
  }

  @Test(
    "R3.4: a conflict is logged with both versions, and the app decides its significance",
    arguments: StoreKind.allCases)
  func conflictsAreLogged(_ kind: StoreKind) async throws {
    let edits = EditOptions(isSignificant: { $0.winner == .local })
    try await withTwo(kind, edits: edits) { one, a, _, b in
      one.remote.upsert("teams", "t", #"{"id":"t","name":"before"}"#)
      _ = try await a.sync()
      _ = try await b.sync()
      one.clock.advance(by: .seconds(10))
      try await b.edits.upsert(Team(name: "theirs"), key: "t")
      _ = try await b.sync()
      one.clock.advance(by: .seconds(10))
      try await a.edits.upsert(Team(name: "ours"), key: "t")
      _ = try await a.sync()
      let conflict = try #require(try await a.edits.conflicts().first)
      #expect(conflict.winner == .local)
      #expect(!conflict.reason.isEmpty)
      guard case .upsert(let ours, _) = conflict.local.content, case .upsert(let theirs) = conflict.remote
      else {
        Issue.record("a side is missing")
        return
      }
      #expect(try FieldMap(ours)["name"].map(Array.init) == Array(#""ours""#.utf8))
      #expect(try FieldMap(theirs.payload)["name"].map(Array.init) == Array(#""theirs""#.utf8))
      let events = one.recorder.events.compactMap {
        if case .conflict(_, let isSignificant) = $0 { isSignificant } else { nil }
      }
      #expect(events == [true])
    }
  }

  @Test(
    "R3.5: each edit has its own outcome; a refused one stays with the reason", arguments: StoreKind.allCases)
  func fatesAreTheirOwn(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let engine = try await setting.engine()
      for key in ["a", "b", "c"] { try await engine.edits.upsert(Team(name: key), key: key) }
      setting.remote.rule(.refused(reason: "no rights"), on: "teams", "b")
      let pushed = try await engine.sync().pushed
      #expect((pushed.accepted, pushed.refused, pushed.pending) == (2, 1, 1))
      let entry = try #require(try await engine.edits.pending("teams").first)
      guard case .refused(let reason, _) = entry.state else {
        Issue.record("it is not refused: \(entry.state)")
        return
      }
      #expect(reason == "no rights")
      setting.remote.rule(nil, on: "teams", "b")
      try await engine.edits.retry("teams", ["b"])
      #expect(try await engine.sync().pushed.accepted == 1)
    }
  }

  @Test(
    "R3.6: a full remote is reported and the outbox kept; a full quota ends one type",
    arguments: StoreKind.allCases)
  func fullRemotesAreTold(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let remote = setting.remote
      setting.addTeams(1...1)
      let edits = EditOptions(onStorageFull: {
        remote.recordQuota = 2
        return true
      })
      let engine = try await setting.engine(edits: edits)
      _ = try await engine.sync()
      remote.recordQuota = 1
      try await engine.edits.upsert(Team(name: "new"), key: "new")
      #expect(try await engine.sync().pushed.accepted == 1)
      #expect(setting.recorder.events.contains { if case .remoteStorageFull = $0 { true } else { false } })
      try await engine.edits.upsert(Team(name: "newer"), key: "newer")
      remote.recordQuota = 0
      let full = try await setting.engine().sync().pushed
      #expect(full.isRemoteFull)
      #expect(full.pending == 1)
      // During a pull, the full quota ends this type and the next one continues.
      remote.upsert("games", "g", #"{"id":"g","home":null,"date":"2026-04-01"}"#)
      remote.behave(.fail(SyncError(.quotaExceeded, during: "listing")), onNext: 1, of: "teams")
      let result = try await setting.engine().sync(SyncRequest(direction: .pull))
      #expect(result.failures.map(\.type) == ["teams"])
      #expect(result["games"].inserted == 1)
    }
  }

  @Test("R3.7: the merge policy is the app's choice, by type", arguments: StoreKind.allCases)
  func policiesAreChosen(_ kind: StoreKind) async throws {
    let expected: [(any MergePolicy, name: String, colour: String)] = [
      (LastWriteWins(), #""ours""#, #""red""#), (FieldwiseLastWriteWins(), #""ours""#, #""blue""#),
      (ServerWins(), #""before""#, #""blue""#),
    ]
    for (policy, name, colour) in expected {
      try await withSetting(kind) { setting in
        setting.remote.upsert("teams", "t", #"{"id":"t","name":"before","colour":"red"}"#)
        let engine = try await setting.engine(edits: EditOptions(policies: ["teams": policy]))
        _ = try await engine.sync()
        setting.clock.advance(by: .seconds(10))
        setting.remote.upsert("teams", "t", #"{"id":"t","name":"before","colour":"blue"}"#)
        setting.clock.advance(by: .seconds(10))
        try await engine.edits.perform { (batch) throws(SyncError) in
          try batch.set(RecordID(type: "teams", key: "t")) { $0["name"] = Array(#""ours""#.utf8)[...] }
        }
        _ = try await engine.sync()
        #expect(try setting.remoteMember("name", of: "t", "teams") == name)
        #expect(try setting.remoteMember("colour", of: "t", "teams") == colour)
      }
    }
  }

  @Test(
    "R3.8: a slow clock does not lose a later edit; a stamp far ahead is flagged",
    arguments: StoreKind.allCases)
  func clocksAreNotTrusted(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let stamped = Entity("teams", stampField: "edited")
      setting.remote.upsert("teams", "t", #"{"id":"t","name":"before"}"#)
      let right = try await setting.engine([stamped])
      _ = try await right.sync()
      setting.clock.advance(by: .seconds(60))
      try await right.edits.upsert(Team(name: "first"), key: "t")
      _ = try await right.sync()
      // A device with a slow clock, an hour behind, sees that edit and stamps after it.
      try await withStore(kind, setting.clock) { store in
        let slow = ManualClock(timestamp: setting.clock.timestamp - .seconds(3600))
        let late = try await SyncEngine(
          schema: SyncSchema(stamped), store: store, source: setting.remote, sink: setting.remote, clock: slow
        )
        _ = try await late.sync()
        try await late.edits.upsert(Team(name: "second, by a slow clock"), key: "t")
        let entry = try #require(try await late.edits.pending("teams").first)
        let base = try #require(entry.base.record)
        guard case .string(let text)? = try base.payload.values(of: ["edited"]).first else {
          Issue.record("the base is not stamped")
          return
        }
        #expect(try #require(EditStamp(text)) < entry.edit.stamp)
        _ = try await late.sync()
      }
      _ = try await right.sync()
      #expect(try await setting.member("name", of: "t", "teams") == #""second, by a slow clock""#)
      // Eleven days ahead: flagged by the pull.
      let ahead = (setting.clock.timestamp + .seconds(11 * 86_400)).microseconds
      setting.remote.upsert(
        "teams", "t", #"{"id":"t","name":"from the future","edited":"\#(ahead).0@other"}"#)
      _ = try await right.sync()
      #expect(
        setting.recorder.events.contains {
          if case .clockAhead(let id, let by) = $0 {
            id.key == "t" && by > .seconds(10 * 86_400)
          } else {
            false
          }
        })
    }
  }

  @Test(
    "R3.9: an immutable field keeps its earliest value", arguments: StoreKind.allCases)
  func immutableFieldsStay(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let teams = Entity("teams", immutable: ["createdAt"])
      setting.remote.upsert("teams", "t", #"{"id":"t","name":"a","createdAt":"2026-01-02T00:00:00Z"}"#)
      let engine = try await setting.engine([teams])
      _ = try await engine.sync()
      // An edit changes every field but that one.
      setting.clock.advance(by: .seconds(10))
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "teams", key: "t")) { fields in
          fields["createdAt"] = Array(#""2026-03-01T00:00:00Z""#.utf8)[...]
          fields["name"] = Array(#""b""#.utf8)[...]
        }
      }
      #expect(try await setting.member("createdAt", of: "t", "teams") == #""2026-01-02T00:00:00Z""#)
      _ = try await engine.sync()
      // So does a copy from the remote, whose earliest value is restored.
      setting.clock.advance(by: .seconds(10))
      setting.remote.upsert("teams", "t", #"{"id":"t","name":"c","createdAt":"2026-02-01T00:00:00Z"}"#)
      for _ in 1...2 { _ = try await engine.sync() }
      #expect(try await setting.member("name", of: "t", "teams") == #""c""#)
      #expect(try await setting.member("createdAt", of: "t", "teams") == #""2026-01-02T00:00:00Z""#)
      #expect(try setting.remoteMember("createdAt", of: "t", "teams") == #""2026-01-02T00:00:00Z""#)
    }
  }
}
