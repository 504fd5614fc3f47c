import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("RebuildMachine")
struct RebuildMachineTests {
  private func machine(_ earlier: RebuildProgress? = nil, atOnce: Int = 4) -> RebuildMachine {
    RebuildMachine(
      version: 2, options: RebuildOptions(recordsAtOnce: atOnce), earlier: earlier, live: 100)
  }

  @Test func takesWholeGroupsUpToTheLimitAndAtLeastOne() {
    var machine = machine()
    #expect(machine.start() == .plan(after: nil, limit: 2))
    let groups = [("a", 2), ("b", 2), ("c", 3), ("d", 9), ("e", 2)]
    #expect(machine.found(groups.map { .init(key: $0.0, records: $0.1) }) == .collapse(["a", "b"]))
    #expect(machine.collapsed(counts(2), isComplete: true) == .collapse(["c"]))
    #expect(machine.progress.after == "b")
    #expect(machine.collapsed(counts(1), isComplete: true) == .collapse(["d"]))
    #expect(machine.collapsed(counts(1), isComplete: true) == .collapse(["e"]))
    #expect(machine.collapsed(counts(1), isComplete: true) == .plan(after: "e", limit: 2))
    #expect(machine.found([]) == .complete)
    #expect(machine.progress.isDone)
    #expect(machine.progress.counts.groups == 5)
    #expect(machine.completed() == .finish)
  }

  @Test func takesABatchUpAgainWhoseReferencesWereTooMany() {
    var machine = machine()
    _ = machine.start()
    _ = machine.found([.init(key: "a", records: 2)])
    #expect(machine.collapsed(counts(0), isComplete: false) == .collapse(["a"]))
    #expect(machine.progress.after == nil)
    #expect(machine.collapsed(counts(1), isComplete: true) == .plan(after: "a", limit: 2))
  }

  @Test func goesOnAfterTheLastBatchOfAnInterruptedRun() {
    var earlier = machine().progress
    earlier.after = "k"
    earlier.counts.groups = 7
    var machine = machine(earlier)
    #expect(machine.start() == .plan(after: "k", limit: 2))
    #expect(machine.progress.counts.groups == 7)
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
    #expect(newer.start() == .plan(after: nil, limit: 2))
    #expect(newer.progress.recordsBefore == 100)
  }

  @Test func isNotDoneWhileGroupsWereLeft() {
    var machine = machine()
    _ = machine.start()
    _ = machine.found([.init(key: "a", records: 2)])
    var left = RebuildReport.Counts()
    left.postponed = 1
    _ = machine.collapsed(left, isComplete: true)
    #expect(machine.found([]) == .complete)
    #expect(!machine.progress.isDone)
    var again = self.machine(machine.progress)
    #expect(again.start() == .plan(after: nil, limit: 2))
    #expect(again.progress.counts.postponed == 0)
  }

  private func counts(_ groups: Int) -> RebuildReport.Counts {
    var counts = RebuildReport.Counts()
    counts.groups = groups
    return counts
  }
}
