import SyncModels
import SyncPorts

/// Writes and reads of several tasks at once, and the order within one round.
enum ConcurrencyChecks {
  static func concurrentWritesQueue(_ bench: StoreBench) async throws {
    let handles = [bench, try await bench.another()]
    let count: UInt8 = 40
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        let copy = try StoreBench.copy("games", "g\(number)")
        let handle = handles[Int(number % 2)]
        group.addTask {
          try await handle.write { transaction throws(SyncError) in
            let former = try transaction.value(forKey: "count")?.first ?? 0
            try transaction.put([copy])
            try transaction.setValue([former + 1], forKey: "count")
          }
        }
      }
      try await group.waitForAll()
    }
    for handle in handles {
      let (value, records) = try await handle.read { snapshot throws(SyncError) in
        (try snapshot.value(forKey: "count"), try snapshot.count(Query("games")))
      }
      try expect(value, equals: [count], "A write sees everything that was written before it.")
      try expect(records, equals: Int(count), "Concurrent writes all remain.")
    }
  }

  static func readsRunBesideEachOther(_ bench: StoreBench) async throws {
    let isBeside = try await AtomicityChecks.turn.take {
      let (begun, ended) = (Signal(), Signal())
      async let second: Int = {
        await begun.wait()
        defer { ended.give() }
        return try await bench.read { snapshot throws(SyncError) in try snapshot.count(Query("games")) }
      }()
      let isBeside = try await bench.read { snapshot throws(SyncError) in
        begun.give()
        return ended.waitBriefly()
      }
      _ = try await second
      return isBeside
    }
    try expect(isBeside, "A read runs beside another one.")
  }

  private struct RoundResult: Equatable {
    var marks: [Bool?]
    var entries: [WithheldChange]
    var outbox: [OutboxEntry]
    var conflicts: [Bytes]
  }

  static func roundIsWrittenInOrder(_ bench: StoreBench) async throws {
    let (kept, lost, put, deleted) = (
      StoreBench.game("kept"), StoreBench.game("lost"), StoreBench.game("put"), StoreBench.game("deleted")
    )
    let key = WithheldChange.Key.record(StoreBench.game("aside"))
    try await bench.put(StoreBench.copy("games", "kept"), StoreBench.copy("games", "lost"))
    try await bench.withhold(StoreBench.entry(key, reason: "former"))
    try await bench.queue(StoreBench.pending(kept, at: StoreBench.stamp(1)))
    try await bench.log(StoreBench.conflict(lost, settledAt: 4))
    try await bench.write { transaction throws(SyncError) in try transaction.mark([kept, lost]) }
    let (copy, tombstone) = (try StoreBench.copy("games", "put"), StoreBench.tombstone("games", "deleted"))
    let entry = StoreBench.entry(key, .held, reason: "later")
    let pending = StoreBench.pending(kept, at: StoreBench.stamp(2))
    @Sendable func result(_ snapshot: any StoreSnapshot) throws(SyncError) -> RoundResult {
      RoundResult(
        marks: try snapshot.states(of: [kept, lost, put, deleted], comparing: []).map { $0?.isMarked },
        entries: try snapshot.withheld(
          "games", kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: 9),
        outbox: try snapshot.outbox("games", after: nil, limit: 9),
        conflicts: try snapshot.conflicts("games", before: nil, limit: 9).map { Bytes($0.reason) })
    }
    let within = try await bench.write { transaction throws(SyncError) in
      try transaction.apply {
        $0.unmarkedTypes = ["games"]
        $0.released = [key]
        $0.dequeued = [kept]
        $0.put = [copy]
        $0.deleted = [tombstone]
        $0.withheld = [entry]
        $0.marked = [deleted, put, kept]
        $0.queued = [pending]
        $0.conflicts = [
          StoreBench.conflict(kept, settledAt: 3, reason: "old"),
          StoreBench.conflict(kept, settledAt: 7, reason: "new"),
        ]
        $0.forgottenConflicts = Timestamp(milliseconds: 5)
      }
      return try result(transaction)
    }
    let wanted = RoundResult(
      marks: [true, false, true, true], entries: [entry], outbox: [pending], conflicts: ["new"])
    try expect(within, equals: wanted, "A round is written in the order of its members.")
    let after = try await bench.read { snapshot throws(SyncError) in try result(snapshot) }
    try expect(after, equals: wanted, "A round is committed in the order of its members.")
  }
}
