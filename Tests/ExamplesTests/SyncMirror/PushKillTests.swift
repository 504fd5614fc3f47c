#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestServers
  import Foundation
  import SQLiteAdapters
  import Testing

  /// Kills processes at random instants of a push, and checks the server's log.
  @Suite("A killed push", .serialized, .timeLimit(.minutes(20)))
  struct PushKillTests {
    /// The number of killed runs: `CANONICALSYNC_KILLS`, or 100.
    static let kills = ProcessInfo.processInfo.environment["CANONICALSYNC_KILLS"].flatMap { Int($0) } ?? 100

    @Test func losesNoEditAndAppliesNoneTwice() async throws {
      try await BookkeepingKinto.with(batchLimit: 7) { server in
        try await withFolder { folder in
          var device = EditingDevice(store: folder.path("killed.sqlite"), server: server.address)
          try await device.pushInPeace()
          var amidPushes = 0
          var rounds = 0
          // Half of the signals must arrive during pushes, even if a busy machine delays them.
          while rounds < Self.kills || amidPushes * 2 < Self.kills {
            rounds += 1
            let edits = try await device.edit(atMost: 40)
            let running = try device.push()
            // One of the batches that certainly arrive.
            let last = Int.random(in: 1...max(1, edits / 8))
            // Any instant from the arrival of a batch until its answer is stored.
            let pause = TimeInterval.random(in: 0...0.012)
            server.onBatch { number in
              guard number == last else { return }
              Thread.detachNewThread {
                Thread.sleep(forTimeInterval: pause)
                running.send(SIGKILL)
              }
            }
            let outcome = await running.outcome()
            #expect(outcome.wasKilled || outcome.status == 0, "\(outcome.errors)")
            if outcome.wasKilled { amidPushes += 1 }
          }
          server.onBatch(nil)
          // An edit on top of one whose answer was lost may be sent in the next push. No other edit
          // may be pending.
          let later = try await device.pending { $0.sent != nil && $0.sent != $0.edit }
          try await device.pushInPeace()
          #expect(try await device.pending().isSubset(of: later))
          try await device.pushInPeace()
          try await device.expectNothingWaits()

          #expect(server.records == device.wanted)
          expectOneEffectEach(server.effects)
          #expect(server.repeated > 0, "no answer was lost on its way into the store")
        }
      }
    }

    /// Each edit has its own content, whose number rises.
    private func expectOneEffectEach(_ effects: [BookkeepingKinto.Effect]) {
      var numbers: [String: Int] = [:]
      var bases: Set<String> = []
      for effect in effects {
        if let base = effect.base {
          #expect(bases.insert("\(effect.key) \(base)").inserted, "\(effect.key) had two effects on one copy")
        }
        guard let content = effect.content, let number = Int(content.filter(\.isNumber)) else { continue }
        let last = numbers.updateValue(number, forKey: effect.key) ?? 0
        #expect(number > last, "\(effect.key) became \(number) after \(last)")
      }
    }
  }

  /// A store with edits, and the built tool that pushes them.
  private struct EditingDevice {
    let store: String
    let server: String
    /// The expected final content of the server, by key.
    private(set) var wanted: [String: String] = [:]
    private var number = 0

    init(store: String, server: String) {
      self.store = store
      self.server = server
    }

    func push() throws -> RunningTool {
      try Tool(name: "sync-mirror").start([
        "--server", server, "--bucket", "b", "--collection", "items", "--store", store, "--push",
      ])
    }

    /// Pushes without a kill.
    func pushInPeace() async throws {
      let outcome = try await push().outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// The records with a pending edit that satisfies a condition.
    func pending(where condition: @Sendable (OutboxEntry) -> Bool = { _ in true }) async throws -> Set<
      RecordID
    > {
      let opened = try await SQLiteStore.open(path: store, configuration: .init(isReadOnly: true))
      let entries = try await opened.read { (snapshot) throws(SyncError) in
        try snapshot.outbox("items", after: nil, limit: 1000)
      }
      await opened.close()
      return Set(entries.filter(condition).map(\.id))
    }

    /// Creates, changes and deletes some of fifty records, in one transaction.
    ///
    /// Returns the number of edits, at most.
    mutating func edit(atMost count: Int) async throws -> Int {
      var changes: [String: Int?] = [:]
      for _ in 0..<Int.random(in: 1...count) {
        number += 1
        changes.updateValue(Int.random(in: 0..<5) == 0 ? nil : number, forKey: "k\(Int.random(in: 0..<50))")
      }
      let opened = try await SQLiteStore.open(path: store)
      let edits = LocalEdits(store: opened, schema: try SyncSchema(Entity("items")))
      try await edits.perform { [changes] (batch) throws(SyncError) in
        for (key, number) in changes {
          let id = RecordID(type: "items", key: key)
          guard let number else {
            try batch.delete(id)
            continue
          }
          try batch.set(id) { $0["edit"] = Array("\(number)".utf8)[...] }
        }
      }
      await opened.close()
      for (key, number) in changes { wanted[key] = number.map { #"{"edit":\#($0)}"# } }
      return changes.count
    }

    /// Checks that the outbox is empty, and that a single editor caused no conflict.
    func expectNothingWaits() async throws {
      let inspect = Tool(name: "sync-inspect")
      #expect(try await inspect.run("outbox", "--store", store, "--json").json["pending"] as? Int == 0)
      #expect(try await inspect.run("conflicts", "--store", store, "--json").json["conflicts"] as? Int == 0)
    }
  }
#endif
