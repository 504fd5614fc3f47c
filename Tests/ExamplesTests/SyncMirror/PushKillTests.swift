#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import TestServers
  import Testing

  /// Processes that are killed at random instants of a push, and a server that outlives them and keeps a book.
  @Suite("A killed push", .serialized, .timeLimit(.minutes(20)))
  struct PushKillTests {
    /// How many runs are killed: `CANONICALSYNC_KILLS`, or 100.
    static let kills = ProcessInfo.processInfo.environment["CANONICALSYNC_KILLS"].flatMap { Int($0) } ?? 100

    @Test func losesNoEditAndAppliesNoneTwice() async throws {
      try await BookkeepingKinto.with(batchLimit: 7) { server in
        try await withFolder { folder in
          var device = EditingDevice(store: folder.path("killed.sqlite"), server: server.address)
          try await device.pushInPeace()
          var amidPushes = 0
          var rounds = 0
          // However late a busy machine lets the signals be sent, half of them have to come amid pushes.
          while rounds < Self.kills || amidPushes * 2 < Self.kills {
            rounds += 1
            let edits = try await device.edit(atMost: 40)
            let running = try device.push()
            // One of the batches that are sure to come.
            let last = Int.random(in: 1...max(1, edits / 8))
            // Any instant from the moment that a batch comes to the moment that what was said to it is in the store.
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
          // An edit made over one whose answer was lost may have its turn in the push after that one's; no other one may wait.
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

    /// Each edit has a content of its own, whose number rises.
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

  /// A store that is edited, and the built tool that pushes its edits.
  private struct EditingDevice {
    let store: String
    let server: String
    /// What the server has to have in the end, by key.
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

    /// Pushes without being disturbed.
    func pushInPeace() async throws {
      let outcome = try await push().outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// The records of which an edit waits that satisfies a condition.
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

    /// Makes, changes and deletes some of fifty records, in one transaction; tells how many, at the most.
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

    /// Demands that the outbox is empty, and that nobody saw a conflict where there was but one who edits.
    func expectNothingWaits() async throws {
      let inspect = Tool(name: "sync-inspect")
      #expect(try await inspect.run("outbox", "--store", store, "--json").json["pending"] as? Int == 0)
      #expect(try await inspect.run("conflicts", "--store", store, "--json").json["conflicts"] as? Int == 0)
    }
  }
#endif
