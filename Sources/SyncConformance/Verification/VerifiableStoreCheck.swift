import SyncModels
public import SyncPorts
import Synchronization

/// One promise of `VerifiableStore`, as a check for any adapter.
///
/// Run every case with its own store; see ``VerifiableStoreHarness``. The other promises of a store
/// are those of ``LocalStoreCheck``.
public enum VerifiableStoreCheck: String, CaseIterable, Sendable {
  /// A promise of a store that verifies itself.
  case soundStoreHasNoFindings, storeInUseHasNoFindings, checkingChangesNothing, contradictionsAreFound,
    limitIsKept, unreadablePartIsAFinding, cancelledCheckSaysSo

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the store.
  public func run(on harness: VerifiableStoreHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome {
      let store = try await harness.open()
      switch self {
      case .soundStoreHasNoFindings: try await Self.soundStoreHasNoFindings(store)
      case .storeInUseHasNoFindings: try await Self.storeInUseHasNoFindings(store)
      case .checkingChangesNothing: try await Self.checkingChangesNothing(store)
      case .contradictionsAreFound:
        try await Self.contradictionsAreFound(try await Self.damaged(store, harness.damage))
      case .limitIsKept: try await Self.limitIsKept(try await Self.damaged(store, harness.damage))
      case .unreadablePartIsAFinding:
        try await Self.unreadablePartIsAFinding(try await Self.damaged(store, harness.destroy))
      case .cancelledCheckSaysSo: try await Self.cancelledCheckSaysSo(store)
      }
    }
  }

  private static func soundStoreHasNoFindings(_ store: any VerifiableStore) async throws {
    let sentence = "A sound store has no findings."
    try expect(try await store.formatFindings(limit: 9), equals: [], sentence)
    try await store.register(try StoreBench.schema())
    try expect(try await store.formatFindings(limit: 9), equals: [], sentence)
    try await StoreContents.fill(store)
    try expect(try await store.formatFindings(limit: 9), equals: [], sentence)
  }

  private static func storeInUseHasNoFindings(_ store: any VerifiableStore) async throws {
    try await store.register(try StoreBench.schema())
    let (rounds, isOver) = (Rounds(), Signal())
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { isOver.give() }
      group.addTask {
        while !isOver.wasGiven {
          try await retrying { try await write(store, round: rounds.count + 1) }
          rounds.add()
          await Task.yield()
        }
      }
      for _ in 0..<10 {
        // Each check comes beside writes.
        let before = rounds.count
        try expect(await Patience.lasts(until: { rounds.count > before }), "A store can be written.")
        let findings = try await retrying { try await store.formatFindings(limit: 9) }
        try expect(findings, equals: [], "A sound store that is written has no findings.")
      }
      isOver.give()
      try await group.waitForAll()
    }
  }

  /// The rounds of writes that were completed.
  private final class Rounds: Sendable {
    private let number = Mutex<Int64>(0)
    var count: Int64 { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  private static func write(_ store: any VerifiableStore, round: Int64) async throws {
    let copies = try (0..<50).map { try StoreBench.copy("teams", "t\($0)", version: round) }
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.put(copies)
      try transaction.queue(copies.map { StoreBench.pending($0.id, at: StoreBench.stamp(round)) })
    }
  }

  /// Repeats a call that a busy store refuses.
  private static func retrying<R>(_ call: () async throws -> R) async throws -> R {
    for _ in 0..<1000 {
      do {
        return try await call()
      } catch let error as SyncError where error.code == .storeBusy {
        await Task.yield()
      }
    }
    return try await call()
  }

  private static func checkingChangesNothing(_ store: any VerifiableStore) async throws {
    try await StoreContents.fill(store)
    let before = try await StoreContents(of: store)
    _ = try await store.formatFindings(limit: 9)
    try expect(try await StoreContents(of: store) == before, "Checking the format changes nothing.")
    try await write(store, round: 5)
    try expect(
      try await store.formatFindings(limit: 9), equals: [], "The store goes on as before after a check.")
  }

  /// Fills the store, and damages it.
  private static func damaged(
    _ store: any VerifiableStore,
    _ damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)?
  ) async throws -> any VerifiableStore {
    guard let damage else { throw Inapplicable(reason: "The harness cannot damage the store.") }
    try await StoreContents.fill(store)
    return try await damage(store)
  }

  private static func contradictionsAreFound(_ store: any VerifiableStore) async throws {
    let findings = try await store.formatFindings(limit: 100)
    try expect(!findings.isEmpty, "A contradiction in the store's own format is found.")
    try expect(findings.allSatisfy { !$0.detail.isEmpty }, "A finding says what is contradictory.")
    // A check that repairs would find less.
    let sentence = "Checking the format of a damaged store changes nothing."
    try expect(try await store.formatFindings(limit: 100), equals: findings, sentence)
  }

  private static func limitIsKept(_ store: any VerifiableStore) async throws {
    let count = try await store.formatFindings(limit: 100).count
    for limit in [1, 2] {
      try expect(
        try await store.formatFindings(limit: limit).count, equals: min(limit, count),
        "A store returns its findings up to the limit.")
    }
  }

  private static func unreadablePartIsAFinding(_ store: any VerifiableStore) async throws {
    let findings: [StoreFinding]
    do throws(SyncError) {
      findings = try await store.formatFindings(limit: 100)
    } catch {
      throw ConformanceFailure("What cannot be read is a finding. Instead there was an error: \(error)")
    }
    try expect(!findings.isEmpty, "What cannot be read is a finding.")
  }

  private static func cancelledCheckSaysSo(_ store: any VerifiableStore) async throws {
    try await StoreContents.fill(store)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await store.formatFindings(limit: 9)
    }
    task.cancel()
    do {
      // A check that is done at once needs no stop.
      try expect(try await task.value, equals: [], "A sound store has no findings.")
    } catch let error as SyncError {
      try expect(
        error.code, equals: .cancelled, "A check in a cancelled task ends, or says that it is cancelled.")
    }
  }
}

/// Access of the checks to a store that verifies its own format.
///
/// One harness has one store, which is empty at first, and serves one check.
public struct VerifiableStoreHarness: Sendable {
  /// Opens the store.
  public var open: @Sendable () async throws -> any VerifiableStore
  /// Makes contradictions in the store; `nil` if that is impossible.
  ///
  /// It returns a handle of the store. The one that it is given is not used again. Several
  /// contradictions show more.
  public var damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)?
  /// Makes a part of the store unreadable, as `damage` does; `nil` if that is impossible.
  public var destroy: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)?

  /// Creates access to a store. Checks that need a `nil` function are skipped.
  public init(
    open: @escaping @Sendable () async throws -> any VerifiableStore,
    damage: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)? = nil,
    destroy: (@Sendable (any VerifiableStore) async throws -> any VerifiableStore)? = nil
  ) {
    self.open = open
    self.damage = damage
    self.destroy = destroy
  }
}
