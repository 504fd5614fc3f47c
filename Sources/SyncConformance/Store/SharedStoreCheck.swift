import SyncModels
import SyncPorts

/// One promise of `SharedStore`, as a check for any adapter.
///
/// Run every case with its own empty store, as those of ``LocalStoreCheck``. A store that is no
/// `SharedStore` skips them.
public enum SharedStoreCheck: String, CaseIterable, Sendable {
  /// A promise about the mark of commits.
  case markStaysWithoutCommits, ownCommitChangesOwnNumber, commitOfOthersChangesTheirNumber
  /// A promise about waiting for a commit. A store that is not told of commits skips it.
  case commitEndsAWait, cancelledWaitEnds

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the store.
  public func run(on harness: LocalStoreHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome {
      let (here, there) = (try await StoreBench(harness), try await StoreBench(harness))
      guard let store = here.store as? any SharedStore else {
        throw Inapplicable(reason: "The store has no marks of its commits.")
      }
      // Both numbers have changed before.
      try await here.put(StoreBench.copy("games", "first"))
      try await there.put(StoreBench.copy("games", "second"))
      let before = try await store.commitMark()
      if self == .commitEndsAWait || self == .cancelledWaitEnds {
        return try await wait(after: before, store, there)
      }
      try await body(here, there)
      let after = try await store.commitMark()
      try expect(
        after.own != before.own, equals: self == .ownCommitChangesOwnNumber,
        "The own number changes with a visible commit through the same object, and with no other.")
      try expect(
        after.others != before.others, equals: self == .commitOfOthersChangesTheirNumber,
        "The others' number changes with a visible commit of theirs, and with no other.")
    }
  }

  private func wait(after mark: CommitMark, _ store: any SharedStore, _ there: StoreBench) async throws {
    async let isTold = Self.wait(store, after: mark)
    try await there.put(StoreBench.copy("games", "third"))
    guard let isTold = await isTold else { throw ConformanceFailure("A commit of others ends a wait.") }
    if !isTold { throw Inapplicable(reason: "The store is not told of commits.") }
    if self == .commitEndsAWait {
      try expect(
        await Self.wait(store, after: mark) ?? false,
        "A commit between the mark and the wait ends the wait.")
    } else {
      let mark = try await store.commitMark()
      let waiting = Task { await store.waitForCommit(after: mark) }
      for _ in 0..<100 { await Task.yield() }
      waiting.cancel()
      try expect(!(await waiting.value), "Without a commit, a wait ends when its task is cancelled.")
    }
  }

  /// The result of a wait; `nil` for one without an end.
  private static func wait(_ store: any SharedStore, after mark: CommitMark) async -> Bool? {
    await withTaskGroup(of: Bool?.self) { group in
      group.addTask { await store.waitForCommit(after: mark) }
      group.addTask { await Patience.lasts { false } ? true : nil }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  private func body(_ here: StoreBench, _ there: StoreBench) async throws {
    switch self {
    case .markStaysWithoutCommits:
      for handle in [here, there] {
        try expect(try await handle.keys(Query("games")), equals: ["first", "second"], "Records are there.")
      }
    case .ownCommitChangesOwnNumber: try await here.delete(StoreBench.tombstone("games", "first"))
    case .commitEndsAWait, .cancelledWaitEnds: break
    case .commitOfOthersChangesTheirNumber: try await there.put(StoreBench.copy("games", "third"))
    }
  }
}
