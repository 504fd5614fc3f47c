#if SQLite
  import CanonicalSync
  import SyncAdapters
  import SyncCore
  import SyncJSON

  /// A store with trouble of every kind, and a thousand syncs behind it.
  struct TroubledStore {
    /// The instant at which a report of it is written.
    let now: Timestamp
    /// A text that is in every place where the store keeps one from outside.
    var text = "North & South"

    /// Creates the trouble, up to now by default.
    init(now: Timestamp = ContinuousClock().timestamp) { self.now = now }

    private var quoted: String { String(decoding: JSONString.quoted(text), as: UTF8.self) }

    private func ago(_ seconds: Int) -> Timestamp { now - .seconds(seconds) }

    /// Writes everything into an empty store.
    func fill(_ store: some LocalStore) async throws {
      let schema = try SyncSchema(Entity("teams"), Entity("games"), Entity("settings"))
      try await store.register(schema)
      let lease = try await store.acquireLease(for: .seconds(60))
      try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
        for (type, live) in [("teams", 30), ("games", 400), ("settings", 5)] as [(RecordType, Int)] {
          try transaction.put((0..<live).map { record(type, "\(type)-\($0)", #"{"floor":2}"#) })
        }
        try transaction.set(well, for: ValueKey(.status, "teams"))
        try transaction.set(failing, for: ValueKey(.status, "games"))
        try transaction.set(well, for: ValueKey(.status, "settings"))
        for type in ["teams", "games", "settings"] as [RecordType] {
          var checkpoint = Checkpoint(
            scope: .init(source: "test", query: "", schemaVersion: 1, store: try transaction.storeIdentity()))
          checkpoint.committed = SyncToken("token")
          checkpoint.committedAt = type == "games" ? ago(7_400) : ago(140)
          if type == "games" {
            checkpoint.inFlight = Checkpoint.Pass(
              number: 977, base: nil, coverage: .full, fetched: 250, total: 400)
          }
          if type == "teams" { checkpoint.sweep = Checkpoint.Sweep(pass: 976) }
          try transaction.setCheckpoint(checkpoint, for: type)
        }
        try transaction.withhold(withheld)
        try transaction.queue(edits)
        try transaction.log(conflicts)
      }
      for start in stride(from: 1, through: 1000, by: 250) {
        try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
          for number in start..<start + 250 {
            try transaction.setValue(sync(number).json, forKey: "history/\(number % 1000)")
          }
        }
      }
      try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
        try transaction.setValue(Array("[1000,1000]".utf8), forKey: "history")
      }
      try await store.release(lease)
    }

    private func record(_ type: RecordType, _ key: String, _ json: String) -> Record {
      Record(
        id: RecordID(type: type, key: key), version: Version(sequence: 1, modifiedAt: ago(9_000)),
        payload: Payload(Array(json.utf8)), fields: [])
    }

    private var well: PassOutcomes {
      var status = PassOutcomes()
      (status.lastSuccess, status.lastAttempt) = (ago(140), ago(150))
      (status.successes, status.failures) = (991, 9)
      return status
    }

    private var failing: PassOutcomes {
      var status = PassOutcomes()
      (status.lastSuccess, status.lastAttempt) = (ago(7_400), ago(150))
      (status.successes, status.failures, status.consecutiveFailures) = (952, 48, 24)
      status.lastError = failure(retryAt: now + .seconds(340))
      return status
    }

    private func failure(retryAt: Timestamp? = nil) -> PassOutcomes.Failure {
      PassOutcomes.Failure(
        code: "remoteUnavailable",
        message: "The remote answered 503 while games were fetched: \(text)", retryAt: retryAt)
    }

    private var withheld: [WithheldChange] {
      let bytes = Payload(Array("{\"id\": \"g7\", \"secret\": \(quoted)".utf8))
      return (0..<3).map { index in
        let malformed = MalformedRecord(
          type: "games", key: "\(text) \(index)", bytes: bytes, reason: "the object has no end: \(text)",
          location: "page \(index + 1), \(text)")
        return WithheldChange(
          key: .record(RecordID(type: "games", key: "\(text) \(index)")), kind: .quarantined,
          change: .malformed(malformed), reason: malformed.reason, pass: 7, finder: .sync(fence: 7),
          since: ago(86_000 + index))
      } + [
        WithheldChange(
          key: .record(RecordID(type: "games", key: "late")), kind: .parked,
          change: .upsert(record("games", "late", #"{"team":"LAN"}"#)),
          reason: "refers to a missing record", waitsFor: [RecordID(type: "teams", key: "LAN")], pass: 9,
          finder: .sync(fence: 9), since: ago(300))
      ]
    }

    private func edit(_ key: String, _ seconds: Int, _ state: OutboxEntry.State, attempts: Int) -> OutboxEntry
    {
      OutboxEntry(
        id: RecordID(type: "settings", key: key),
        edit: Edit(
          .upsert(Payload(Array("{\"secret\":\(quoted)}".utf8)), schemaVersion: 1), stamp: stamp(seconds)),
        base: .none, state: state, attempts: attempts)
    }

    private func stamp(_ seconds: Int) -> EditStamp { EditStamp(physical: ago(seconds), replica: "device") }

    private var edits: [OutboxEntry] {
      [
        edit(
          "theme", 95_000, .refused(reason: "the owner is unknown: \(text)", at: ago(94_000)), attempts: 1),
        edit("language", 700, .postponed(until: now + .seconds(600)), attempts: 3),
        edit(text, 30, .waiting, attempts: 0),
      ]
    }

    private var conflicts: [Conflict] {
      [(Conflict.Winner.local, 50_000), (.remote, 6_000), (.merged, 500)].map { winner, seconds in
        let (base, local, remote) = (
          #"{"name":"Bees","floor":1,"city":"Boston"}"#,
          "{\"name\":\(quoted),\"floor\":1.0,\"city\":\"Boston\",\"colour\":\"red\"}",
          #"{"name":"Bees","floor":2,"city":"Boston"}"#
        )
        return Conflict(
          id: RecordID(type: "teams", key: "\(text), \(winner)"), settledAt: ago(seconds - 10),
          local: Edit(.upsert(Payload(Array(local.utf8)), schemaVersion: 1), stamp: stamp(seconds)),
          remote: .upsert(record("teams", "\(text), \(winner)", remote)), remoteStamp: stamp(seconds + 60),
          base: Payload(Array(base.utf8)), winner: winner, reason: "it was made later: \(text)")
      }
    }

    /// One of a thousand syncs, every five minutes, with a night of failures behind it.
    private func sync(_ number: Int) -> PastSync {
      var sync = PastSync(
        number: Int64(number), fence: Int64(number),
        triggers: [number % 7 == 0 ? "connectivity" : "staleness"],
        began: ago(150 + (1000 - number) * 300))
      sync.outcome = .finished
      // Waves like those of a day, without chance.
      let load = 1 + (number * 37 % 97) + (number % 288 < 144 ? 40 : 0)
      sync.seconds = 0.3 + Double(load * load) / 4000
      sync.fetchingSeconds = sync.seconds * 0.7
      sync.bytes = load * 412
      sync.counts["teams"] = ["fetched": 1, "unchanged": 1, "requests": 1]
      sync.counts["games"] = ["fetched": load, "updated": load, "requests": 1 + load / 50]
      if number > 976 {
        sync.typeFailures = [.init("games", failure())]
        sync.counts["games"] = ["requests": 4]
        (sync.retries, sync.bytes) = (3, 0)
      }
      switch number {
      case 300, 301: (sync.outcome, sync.failure, sync.counts) = (.failed, failure(), [:])
      case 500: sync.outcome = .stopped
      case 620: (sync.outcome, sync.seconds, sync.counts) = (.running, 0, [:])
      default: break
      }
      return sync
    }
  }
#endif
