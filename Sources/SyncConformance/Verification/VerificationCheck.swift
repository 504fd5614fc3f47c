import SyncModels
import SyncPorts

/// One promise of `VerifiableStore`, as a check for any adapter.
///
/// Run every case with its own store; see ``VerificationHarness``. The other promises of a store
/// are those of ``LocalStoreCheck``.
public enum VerificationCheck: String, CaseIterable, Sendable {
  /// A promise of a store that verifies itself.
  case soundStoreHasNoFindings, storeInUseHasNoFindings, checkingChangesNothing, contradictionsAreFound,
    limitIsKept

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the store.
  public func run(on harness: VerificationHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome {
      let store = try await harness.open()
      switch self {
      case .soundStoreHasNoFindings: try await Self.soundStoreHasNoFindings(store)
      case .storeInUseHasNoFindings: try await Self.storeInUseHasNoFindings(store)
      case .checkingChangesNothing: try await Self.checkingChangesNothing(store)
      case .contradictionsAreFound: try await Self.contradictionsAreFound(store, harness)
      case .limitIsKept: try await Self.limitIsKept(store, harness)
      }
    }
  }

  private static func fill(_ store: any LocalStore, _ round: Int = 0) async throws {
    let records = try (0..<50).map { number in
      try StoreBench.copy("teams", "t\(number)", #"{"city":"\#(round)"}"#, version: Int64(1 + round))
    }
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.put(records)
      for (number, record) in records.enumerated() {
        try transaction.queue([StoreBench.pending(record.id, at: StoreBench.stamp(Int64(1 + number)))])
      }
      try transaction.withhold([
        StoreBench.entry(.record(StoreBench.game("g")), waitsFor: [StoreBench.team("x")])
      ])
      try transaction.log([StoreBench.conflict(StoreBench.game("g"), settledAt: 1)])
      try transaction.setValue([1], forKey: "app")
    }
  }

  private static func soundStoreHasNoFindings(_ store: any VerifiableStore) async throws {
    let sentence = "A sound store has no findings."
    try expect(try await store.formatFindings(limit: 9), equals: [], sentence)
    try await store.register(try StoreBench.schema())
    try expect(try await store.formatFindings(limit: 9), equals: [], sentence)
    try await fill(store)
    try expect(try await store.formatFindings(limit: 9), equals: [], sentence)
  }

  private static func storeInUseHasNoFindings(_ store: any VerifiableStore) async throws {
    try await store.register(try StoreBench.schema())
    try await fill(store)
    let isOver = Signal()
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { isOver.give() }
      group.addTask {
        var round = 0
        while !isOver.wasGiven {
          round += 1
          try await fill(store, round)
          await Task.yield()
        }
      }
      for _ in 0..<10 {
        let findings = try await store.formatFindings(limit: 9)
        try expect(findings, equals: [], "A sound store that is written has no findings.")
      }
      isOver.give()
      try await group.waitForAll()
    }
  }

  private static func checkingChangesNothing(_ store: any VerifiableStore) async throws {
    try await store.register(try StoreBench.schema())
    try await fill(store)
    func contents() async throws -> [SalvagePart: Set<SalvagedEntry>] {
      try await SalvageBench.contents(of: store)
    }
    let before = try await contents()
    _ = try await store.formatFindings(limit: 9)
    try expect(try await contents() == before, "Checking the format changes nothing.")
    try await fill(store, 1)
    try expect(
      try await store.formatFindings(limit: 9), equals: [], "The store goes on as before after a check.")
  }

  private static func damaged(
    _ store: any VerifiableStore, _ harness: VerificationHarness
  ) async throws -> any VerifiableStore {
    guard let damage = harness.damage else {
      throw Inapplicable(reason: "The harness cannot damage the store.")
    }
    try await store.register(try StoreBench.schema())
    try await fill(store)
    return try await damage(store)
  }

  private static func contradictionsAreFound(
    _ store: any VerifiableStore, _ harness: VerificationHarness
  ) async throws {
    let findings = try await damaged(store, harness).formatFindings(limit: 100)
    try expect(!findings.isEmpty, "A contradiction in the store's own format is found.")
    try expect(findings.allSatisfy { !$0.detail.isEmpty }, "A finding tells what is contradictory.")
  }

  private static func limitIsKept(
    _ store: any VerifiableStore, _ harness: VerificationHarness
  ) async throws {
    let damaged = try await damaged(store, harness)
    for limit in [1, 2] {
      let count = try await damaged.formatFindings(limit: limit).count
      try expect(count, equals: limit, "A store returns as many findings as it is asked for, and has.")
    }
  }
}
