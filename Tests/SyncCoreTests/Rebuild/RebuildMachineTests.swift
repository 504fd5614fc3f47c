import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("RebuildMachine")
struct RebuildMachineTests {
  private func machine(_ earlier: RebuildProgress? = nil, atOnce: Int = 4) -> RebuildMachine {
    RebuildMachine(
      version: 2, options: RebuildOptions(recordsAtOnce: atOnce), earlier: earlier, live: 100)
  }

  private let limit = RebuildMachine.groupsAtOnce

  /// Groups that are stored in the order of this list.
  private func groups(_ groups: (key: String, count: Int)...) -> [DuplicateGroup] {
    groups.enumerated().compactMap { place, group in
      DuplicateGroup(key: group.key, places: (0..<group.count).map { Int64(1000 * $0 + place) })
    }
  }

  /// The natural keys of the groups to merge.
  private func keys(_ action: RebuildMachine.Action) -> [String]? {
    if case .collapse(let groups) = action { groups.map(\.key) } else { nil }
  }

  @Test func takesWholeGroupsUpToTheLimitAndAtLeastOne() {
    var machine = machine()
    #expect(machine.start() == .plan(after: nil, limit: limit))
    let groups = groups(("a", 2), ("b", 2), ("c", 3), ("d", 9), ("e", 2))
    #expect(keys(machine.found(groups)) == ["a", "b"])
    #expect(keys(machine.collapsed(counts(2), isComplete: true)) == ["c"])
    #expect(keys(machine.collapsed(counts(1), isComplete: true)) == ["d"])
    #expect(keys(machine.collapsed(counts(1), isComplete: true)) == ["e"])
    #expect(machine.collapsed(counts(1), isComplete: true) == .plan(after: "e", limit: limit))
    #expect(machine.found([]) == .finish)
    #expect(machine.progress.isDone)
    #expect(machine.progress.counts.groups == 5)
  }

  @Test func takesGroupsUpAsTheyLieInTheStore() {
    var machine = machine()
    _ = machine.start()
    let places: [(String, Int64)] = [("a", 8), ("b", 1), ("c", 9), ("d", 2)]
    let groups = places.compactMap { DuplicateGroup(key: $0.0, places: [100, $0.1]) }
    #expect(keys(machine.found(groups)) == ["b", "d"])
    #expect(keys(machine.collapsed(counts(2), isComplete: true)) == ["a", "c"])
    #expect(machine.progress.after == nil, "Before the last batch, some of the groups are still to come.")
    #expect(machine.collapsed(counts(2), isComplete: true) == .plan(after: "d", limit: limit))
  }

  @Test func looksAgainForGroupsThatWereFoundTogetherWhenItIsInterrupted() {
    var machine = machine()
    _ = machine.start()
    _ = machine.found(groups(("a", 4), ("b", 4)))
    _ = machine.collapsed(counts(0, postponed: 1), isComplete: true)
    #expect(
      machine.collapsed(counts(1), isComplete: true) == .plan(after: "b", limit: limit))
    _ = machine.found(groups(("c", 4), ("d", 4), ("e", 4)))
    _ = machine.collapsed(counts(1), isComplete: true)
    _ = machine.collapsed(counts(0, postponed: 1), isComplete: true)
    var again = self.machine(machine.progress)
    #expect(again.start() == .plan(after: "b", limit: limit))
    #expect(again.progress.counts.groups == 2)
    #expect(again.progress.counts.postponed == 1, "The one behind the key is met again.")
  }

  @Test func takesABatchUpAgainWhoseReferencesWereTooMany() {
    var machine = machine()
    _ = machine.start()
    _ = machine.found(groups(("a", 2)))
    #expect(keys(machine.collapsed(counts(0), isComplete: false)) == ["a"])
    #expect(machine.progress.after == nil)
    #expect(machine.collapsed(counts(1), isComplete: true) == .plan(after: "a", limit: limit))
  }

  @Test func goesOnAfterTheLastBatchOfAnInterruptedRun() {
    var earlier = machine().progress
    earlier.after = "k"
    (earlier.counts.groups, earlier.counts.postponed, earlier.postponedUpToKey) = (7, 3, 2)
    var machine = machine(earlier)
    #expect(machine.start() == .plan(after: "k", limit: limit))
    #expect(machine.progress.counts.groups == 7)
    #expect(machine.progress.counts.postponed == 2)
  }

  @Test func doesNothingForVersionsThatAreDone() {
    var earlier = machine().progress
    earlier.isDone = true
    var same = machine(earlier)
    #expect(same.start() == .finish)
    earlier.version = 3
    var older = machine(earlier)
    #expect(older.start() == .finish)
    earlier.version = 1
    var newer = machine(earlier)
    #expect(newer.start() == .plan(after: nil, limit: limit))
    #expect(newer.progress.recordsBefore == 100)
  }

  @Test func isNotDoneWhileGroupsWereLeft() {
    var machine = machine()
    _ = machine.start()
    _ = machine.found(groups(("a", 2)))
    _ = machine.collapsed(counts(0, postponed: 1), isComplete: true)
    #expect(machine.found([]) == .finish)
    #expect(!machine.progress.isDone)
    var again = self.machine(machine.progress)
    #expect(again.start() == .plan(after: nil, limit: limit))
    #expect(again.progress.counts.postponed == 0)
  }

  private func counts(_ groups: Int, postponed: Int = 0) -> RebuildReport.Counts {
    var counts = RebuildReport.Counts()
    (counts.groups, counts.postponed) = (groups, postponed)
    return counts
  }
}
