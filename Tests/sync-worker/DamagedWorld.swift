#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import Synchronization

  /// The files of one store, as a process leaves them.
  struct StoreFiles {
    /// The file of a closed store.
    let closed: Data
    /// The file of a store whose process has died.
    let inUse: Data
    /// The log beside it, with its last transactions.
    let log: Data
  }

  /// An app with a store that has data of every kind, and its remote.
  struct DamagedWorld {
    let clock = ManualClock()
    let remote: InMemoryRemote
    let schema: SyncSchema

    struct Team: SyncedRecord, Codable {
      static let recordType: RecordType = "teams"
      var name: String?
      var above: String?
    }

    init() throws(SyncError) {
      remote = InMemoryRemote(clock: clock)
      do {
        schema = try SyncSchema(
          Entity(
            "teams", schemaVersionField: "schema", references: [.to("teams", by: "above")],
            naturalKey: NaturalKey("name")),
          Entity("games", references: [.to("teams", by: "home")], indexes: ["date"]),
          Entity("venues", visibility: .wholeEntity))
      } catch {
        throw SyncError(.invalidConfiguration, during: "declaring", underlying: error)
      }
    }

    func engine(on store: SQLiteStore, pageSize: Int = 100) async throws(SyncError) -> SyncEngine {
      try await SyncEngine(
        schema: schema, store: store, source: remote, sink: remote, clock: clock,
        options: SyncOptions(pageSize: pageSize, retry: RetryPolicy(attempts: 1)), random: RepeatedNumber(7))
    }

    static func opened(_ path: String) async throws(SyncError) -> SQLiteStore {
      try await SQLiteStore.open(
        path: path, configuration: .init(busyTimeout: .milliseconds(50), readerCount: 1))
    }

    /// The rule of the clean-up: it hides the oldest games.
    static let policy = CleanupPolicy([.hide("games", where: .less("date", .string("2020-01-10")))])

    /// Creates the store: withheld, pending, settled and unfinished data, and many teams.
    ///
    /// The teams exceed one portion.
    ///
    /// - Returns: The files in the two states that a process leaves them in.
    func make(at path: String) async throws -> StoreFiles {
      for number in 0..<450 {
        let above = number % 7 == 3 ? #","above":"t\#(number - 1)""# : ""
        remote.upsert("teams", "t\(number)", #"{"name":"T\#(number % 420)"\#(above)}"#)
      }
      for number in 0..<60 {
        let day = number % 28 + 1
        remote.upsert(
          "games", "g\(number)",
          #"{"home":"t\#(number < 50 ? number * 9 : number + 9000)","date":"2020-01-\#(day < 10 ? "0" : "")\#(day)"}"#
        )
      }
      for number in 0..<30 { remote.upsert("venues", "v\(number)", #"{"seats":\#(number * 1000)}"#) }
      remote.upsert("teams", "future", #"{"schema":9}"#)
      for number in 0..<3 { remote.putMalformed("games", nil, Array("no JSON \(number)".utf8)) }

      let store = try await Self.opened(path)
      let engine = try await engine(on: store)
      _ = try await engine.sync()
      try await edit(engine, 100..<110)
      remote.rule(.refused(reason: "not this one"), on: "teams", "t100")
      remote.rule(.retryLater(after: .seconds(3600)), on: "teams", "t101")
      for number in 102..<106 { remote.upsert("teams", "t\(number)", #"{"name":"theirs \#(number)"}"#) }
      _ = try await engine.sync()
      // A game refers to the team, so the deletion is held.
      remote.delete("teams", "t180")
      _ = try await engine.sync(SyncRequest(direction: .pull))
      _ = try await engine.cleanUp(Self.policy)
      _ = try await engine.rebuildDuplicates(of: "teams", version: 1)
      _ = try await engine.throttle().record(Team(name: "throttled"), key: "t200")
      // More than a portion of the outbox, whose least numbers are far from 1.
      try await addVenues(engine, 0..<300)
      _ = try await engine.push()
      try await edit(engine, 310..<330)
      remote.behave(
        .loseAnswer(SyncError(.remoteUnavailable, during: "losing an answer")), onNextPushes: 1000)
      // The failure leaves edits in the outbox with unknown arrival.
      _ = try? await engine.push()
      remote.takePushesWell()
      try await addVenues(engine, 300..<720)
      try await edit(engine, 140..<150)
      try await engine.edits.delete(RecordID(type: "venues", key: "v3"))
      try await listInPart(["venues"], store, pages: 2)
      try await listInPart(["teams"], store, pages: 20)
      // A copy of the log is complete: nothing is removed from it while the store is open.
      let inUse = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
      await store.close()
      return StoreFiles(
        closed: try Data(contentsOf: URL(fileURLWithPath: path)), inUse: inUse[0], log: inUse[1])
    }

    /// Begins a complete listing of types, with its marks and staged changes, and stops it.
    private func listInPart(
      _ types: [RecordType], _ store: SQLiteStore, pages: Int
    ) async throws(SyncError) {
      let stop = CancellationSource()
      let requests = Mutex(0)
      remote.onRequest = { _ in
        let count = requests.withLock {
          $0 += 1
          return $0
        }
        // The first request checks the last token.
        if count == pages + 2 { stop.cancel() }
      }
      _ = try await engine(on: store, pageSize: 10).sync(
        SyncRequest(types: types, fullPull: Set(types), direction: .pull), token: stop)
      remote.onRequest = nil
    }

    private func edit(_ engine: SyncEngine, _ numbers: Range<Int>) async throws(SyncError) {
      try await engine.edits.perform { (batch) throws(SyncError) in
        for number in numbers {
          try batch.set(RecordID(type: "teams", key: "t\(number)")) {
            $0["note"] = Array(#""ours""#.utf8)[...]
          }
        }
        try batch.set(RecordID(type: "teams", key: "new\(numbers.lowerBound)")) {
          $0["name"] = Array(#""new""#.utf8)[...]
        }
      }
    }

    private func addVenues(_ engine: SyncEngine, _ numbers: Range<Int>) async throws(SyncError) {
      try await engine.edits.perform { (batch) throws(SyncError) in
        for number in numbers {
          try batch.set(RecordID(type: "venues", key: "own\(number)")) {
            $0["seats"] = Array("\(number)".utf8)[...]
          }
        }
      }
    }

    /// Performs every operation of an app on a store, regardless of failures.
    ///
    /// - Parameter attempt: Receives each step with its name and its error.
    func live(
      in path: String, _ attempt: (String, () async throws(SyncError) -> Void) async -> Bool
    ) async {
      var opened: (store: SQLiteStore, engine: SyncEngine)?
      _ = await attempt("open") { () throws(SyncError) in
        let store = try await Self.opened(path)
        do throws(SyncError) {
          opened = (store, try await engine(on: store))
        } catch {
          await store.close()
          throw error
        }
      }
      guard let (store, engine) = opened else { return }
      _ = await attempt("status") { () throws(SyncError) in _ = try await engine.status() }
      _ = await attempt("sync") { () throws(SyncError) in _ = try await engine.sync() }
      _ = await attempt("inspect") { () throws(SyncError) in try await inspect(engine) }
      _ = await attempt("edit") { () throws(SyncError) in try await edit(engine, 120..<125) }
      _ = await attempt("upsert") { () throws(SyncError) in
        try await engine.edits.upsert(Team(name: "typed", above: "t1"), key: "t2")
        _ = try await engine.throttle().record(Team(name: "again"), key: "t200")
      }
      _ = await attempt("delete") { () throws(SyncError) in
        try await engine.edits.delete(RecordID(type: "games", key: "g20"))
      }
      _ = await attempt("retry") { () throws(SyncError) in
        try await engine.edits.retry("teams")
        try await engine.edits.discard(RecordID(type: "teams", key: "t100"))
      }
      _ = await attempt("rebuild") { () throws(SyncError) in
        _ = try await engine.rebuildDuplicates(of: "teams", version: 2)
      }
      _ = await attempt("clean") { () throws(SyncError) in _ = try await engine.cleanUp(Self.policy) }
      _ = await attempt("resync") { () throws(SyncError) in
        _ = try await engine.sync(
          SyncRequest(fullPull: ["teams", "games", "venues"], allowsMassDeletion: true))
      }
      _ = await attempt("inspect again") { () throws(SyncError) in try await inspect(engine) }
      await store.close()
    }

    private func inspect(_ engine: SyncEngine) async throws(SyncError) {
      _ = try await engine.records.all(Team.self)
      _ = try await engine.records.filter(Team.self, where: .equal("name", .string("T3")))
      _ = try await engine.records.undecodable(Team.self)
      for key in ["t9", "t100", "future", "g55"] {
        for type: RecordType in ["teams", "games"] {
          _ = try await engine.explain(RecordID(type: type, key: key)).description
        }
      }
      var last: EditStamp?
      repeat {
        last = try await engine.edits.waiting("teams", after: last, limit: 20).last?.entry.edit.stamp
      } while last != nil
      var number: Int64?
      repeat {
        number = try await engine.edits.conflicts(before: number, limit: 2).last?.number
      } while number != nil
    }
  }
#endif
