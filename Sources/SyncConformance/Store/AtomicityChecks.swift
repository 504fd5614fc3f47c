import SyncModels
import SyncPorts

/// The visibility of a transaction's writes.
enum AtomicityChecks {
  /// Makes one write of each kind.
  ///
  /// Game `new` is inserted, `old` gets a version, `gone` is deleted, `kept` is marked. One
  /// withheld change, one edit and one conflict are added, and one of each is removed.
  private static func everything(_ transaction: any StoreTransaction, touch: Record, put: Record)
    throws(SyncError)
  {
    try transaction.apply { changes in
      changes.put = [put]
      changes.versions = [touch]
      changes.deleted = [StoreBench.tombstone("games", "gone")]
      changes.marked = [StoreBench.game("kept")]
      changes.withheld = [StoreBench.entry(.record(StoreBench.game("aside")))]
      changes.released = [.record(StoreBench.game("before"))]
      changes.values = [.init("k", [1]), .init("l", [])]
      changes.queued = [StoreBench.pending(StoreBench.game("new"), at: StoreBench.stamp(2))]
      changes.dequeued = [StoreBench.game("gone")]
      changes.conflicts = [StoreBench.conflict(StoreBench.game("new"), settledAt: 8)]
      changes.forgottenConflicts = Timestamp(milliseconds: 8)
    }
  }

  private static func prepare(_ bench: StoreBench) async throws -> (touch: Record, put: Record) {
    try await bench.put(
      StoreBench.copy("games", "old"), StoreBench.copy("games", "gone", #"{"code":"c"}"#),
      StoreBench.copy("games", "kept"))
    try await bench.withhold(StoreBench.entry(.record(StoreBench.game("before"))))
    try await bench.queue(StoreBench.pending(StoreBench.game("gone"), at: StoreBench.stamp(1)))
    try await bench.log(StoreBench.conflict(StoreBench.game("gone"), settledAt: 7))
    return (
      try StoreBench.copy("games", "old", version: 8, tag: "t"),
      try StoreBench.copy("games", "new", #"{"code":"c"}"#)
    )
  }

  private struct Findings: Equatable {
    var live: [Bytes]
    var version: Int64?
    var isMarked: Bool?
    var aside: [WithheldChange.Key]
    var hasEmptyValue: Bool
    var value: [UInt8]?
    /// The records that have edits, conflicts, or the natural key of `gone` and `new`.
    var edited: [Bytes]
    var conflicts: [Bytes]
    var namesakes: [Bytes]

    static let before = Findings(
      live: ["gone", "kept", "old"], version: 1, isMarked: false, aside: [.record(StoreBench.game("before"))],
      hasEmptyValue: false, value: nil, edited: ["gone"], conflicts: ["gone"], namesakes: ["gone"])
    static let after = Findings(
      live: ["kept", "new", "old"], version: 8, isMarked: true, aside: [.record(StoreBench.game("aside"))],
      hasEmptyValue: true, value: [1], edited: ["new"], conflicts: ["new"], namesakes: ["new"])
  }

  private static func findings(_ snapshot: any StoreSnapshot) throws(SyncError) -> Findings {
    let namesake = Record(
      id: StoreBench.game("k"), version: .unversioned, payload: Payload([]),
      fields: StoreBench.games.fields.map { $0 == "code" ? "c" : .null })
    let key = StoreBench.games.naturalKey(of: namesake) ?? ""
    return Findings(
      live: try snapshot.records(Query("games")).map { Bytes($0.id.key) },
      version: try snapshot.state(of: StoreBench.game("old"))?.version.sequence,
      isMarked: try snapshot.state(of: StoreBench.game("kept"))?.isMarked,
      aside: try snapshot.withheld("games", kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: 9)
        .map(
          \.key),
      hasEmptyValue: try snapshot.value(forKey: "l") == [],
      value: try snapshot.value(forKey: "k"),
      edited: try snapshot.outbox("games", after: nil, limit: 9).map { Bytes($0.id.key) },
      conflicts: try snapshot.conflicts("games", before: nil, limit: 9).map { Bytes($0.id.key) },
      namesakes: try snapshot.records(ofType: "games", withNaturalKeys: [key]).flatMap(\.self).map {
        Bytes($0.id.key)
      })
  }

  static func throwingBodyLeavesNothing(_ bench: StoreBench) async throws {
    let (touch, put) = try await prepare(bench)
    try await expect(.inconsistentData, "The write throws the body's error.") { () throws(SyncError) in
      try await bench.write { transaction throws(SyncError) in
        try everything(transaction, touch: touch, put: put)
        throw SyncError(.inconsistentData, during: "checking")
      }
    }
    let found = try await bench.read { snapshot throws(SyncError) in try findings(snapshot) }
    try expect(found, equals: .before, "A body that throws leaves the store as it was.")
  }

  static func returningBodyCommitsAll(_ bench: StoreBench) async throws {
    let (touch, put) = try await prepare(bench)
    let result = try await bench.write { transaction throws(SyncError) in
      try everything(transaction, touch: touch, put: put)
      return 42
    }
    try expect(result, equals: 42, "A write returns what its body returns.")
    let found = try await bench.read { snapshot throws(SyncError) in try findings(snapshot) }
    try expect(found, equals: .after, "A body that returns commits all that it wrote.")
  }

  static func transactionSeesItsOwnWrites(_ bench: StoreBench) async throws {
    let (touch, put) = try await prepare(bench)
    let (before, after) = try await bench.write { transaction throws(SyncError) in
      let before = try findings(transaction)
      try everything(transaction, touch: touch, put: put)
      return (before, try findings(transaction))
    }
    try expect(before, equals: .before, "A transaction sees earlier commits.")
    try expect(after, equals: .after, "A transaction sees its own writes.")
  }

  static func cancelledTaskCompletesItsWrite(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g")
    let failure: SyncError? = await withTaskGroup(of: SyncError?.self) { group in
      group.addTask {
        withUnsafeCurrentTask { $0?.cancel() }
        do throws(SyncError) {
          try await bench.put(copy)
          return nil
        } catch {
          return error
        }
      }
      return await group.next() ?? nil
    }
    try expect(failure?.code, equals: nil, "A write in a cancelled task is completed.")
    try expect(
      try await bench.record(copy.id) == copy, "A write of a cancelled task remains.")
  }

  /// The turn of the checks that block a thread, of whatever store.
  static let turn = Turn()

  private static func tally(_ snapshot: any StoreSnapshot) throws(SyncError) -> [Int] {
    [try snapshot.count(Query("games")), try snapshot.outboxCount("games")]
  }

  static func readSeesOneUnchangingState(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g")
    let (before, after, isBeside) = try await turn.take {
      let (reading, written) = (Signal(), Signal())
      async let write: Void = {
        await reading.wait()
        try await bench.write { transaction throws(SyncError) in
          try transaction.put([copy])
          try transaction.queue([StoreBench.pending(copy.id, at: StoreBench.stamp(1))])
        }
        written.give()
      }()
      let counts = try await bench.read { snapshot throws(SyncError) in
        let before = try tally(snapshot)
        reading.give()
        let isBeside = written.waitBriefly()
        return (before, try tally(snapshot), isBeside)
      }
      try await write
      return counts
    }
    try expect(isBeside, "A write is completed beside a read.")
    try expect(after, equals: before, "A read sees one state, despite concurrent writes.")
    try expect(
      try await bench.keys(Query("games")), equals: ["g"], "A write concurrent with a read remains.")
  }

  static func readSeesNothingUncommitted(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g")
    let (count, isBeside) = try await turn.take {
      let (written, read, isBeside) = (Signal(), Signal(), Signal())
      async let seen: [Int] = {
        await written.wait()
        defer { read.give() }
        return try await bench.read { snapshot throws(SyncError) in try tally(snapshot) }
      }()
      try await expect(.inconsistentData, "The write throws the body's error.") { () throws(SyncError) in
        try await bench.write { transaction throws(SyncError) in
          try transaction.put([copy])
          try transaction.queue([StoreBench.pending(copy.id, at: StoreBench.stamp(1))])
          written.give()
          if read.waitBriefly() { isBeside.give() }
          throw SyncError(.inconsistentData, during: "checking")
        }
      }
      return (try await seen, isBeside.wasGiven)
    }
    try expect(isBeside, "A read runs beside a write.")
    try expect(count, equals: [0, 0], "A read never sees uncommitted writes.")
  }
}
