import SyncModels
import SyncPorts

/// One promise of `SharedStore`, as a check for any adapter.
///
/// Run every case with its own empty store, as those of ``LocalStoreCheck``. A store that is no
/// `SharedStore` skips them.
public enum SharedStoreCheck: String, CaseIterable, Sendable {
  /// A promise about the mark of commits.
  case markStaysWithoutCommits, ownCommitChangesOwnNumber, commitOfOthersChangesTheirNumber

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

  private func body(_ here: StoreBench, _ there: StoreBench) async throws {
    switch self {
    case .markStaysWithoutCommits:
      for handle in [here, there] {
        try expect(try await handle.keys(Query("games")), equals: ["first", "second"], "Records are there.")
      }
    case .ownCommitChangesOwnNumber: try await here.delete(StoreBench.tombstone("games", "first"))
    case .commitOfOthersChangesTheirNumber: try await there.put(StoreBench.copy("games", "third"))
    }
  }
}
