import InMemoryAdapters
import SyncModels
import SyncPorts
import SyncSimulation
import Synchronization
import Testing

@Suite("A world")
struct RecordingTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func isTheSameEachTimeItIsReplayed(_ seed: UInt64) throws {
    let outcome = Simulation().run(seed: seed)
    let recording = try #require(Recording(text: outcome.recording.text))
    #expect(recording == outcome.recording)
    let again = Simulation().replay(recording, keepsTimeline: true)
    #expect(again.hash == outcome.hash)
    #expect(again.timeline.contains { $0.contains("all faults end") })
  }

  @Test func staysTheSameWithoutHazardsThatAreDrawnApart() {
    let apart: Set<Hazard> = [
      .restoredRemotes, .lyingTotals, .cappedLists, .reorderedTies, .volatileMembers, .normalising,
    ]
    var usual = Simulation()
    usual.hazards.subtract(apart)
    var compared = 0
    for seed: UInt64 in 0..<12 {
      let outcome = Simulation().run(seed: seed)
      guard outcome.hazards.isDisjoint(with: apart) else { continue }
      compared += 1
      #expect(usual.run(seed: seed).hash == outcome.hash)
    }
    #expect((1..<12).contains(compared))
  }

  @Test func namesTheVersionThatMadeIt() throws {
    let recording = Simulation().run(seed: 1).recording
    #expect(recording.version == LibraryVersion.current)
    #expect(Recording(text: "canonicalsync-world 1\n1 2\n") == Recording(choices: [1, 2]))
    let older = try #require(Recording(text: "canonicalsync-world 1\nversion 0.9\nfault stall 3\n1 2\n"))
    #expect(older.version == "0.9" && older.choices == [1, 2] && older.fault?.call == 3)
  }

  @Test func keepsItsHazards() throws {
    var simulation = Simulation()
    simulation.hazards = [.localEdits, .duplicates]
    let outcome = simulation.run(seed: 5)
    let recording = try #require(Recording(text: outcome.recording.text))
    #expect(recording.hazards == simulation.hazards)
    #expect(Simulation().replay(recording).hash == outcome.hash)
    #expect(Recording(text: "canonicalsync-world 1\nhazards localEdits,weather\n1 2\n") == nil)
  }

  /// In a process with random hash seeds, no two dictionaries have the same order.
  @Test(arguments: [1, 7, 107_000] as [UInt64])
  func isTheSameHoweverOftenItHappens(_ seed: UInt64) {
    let hashes = Set((0..<8).map { _ in Simulation().run(seed: seed).hash })
    #expect(hashes.count == 1)
  }

  @Test func leavesNothingBehindInMemory() {
    let last = LastStore()
    var simulation = Simulation()
    simulation.useStores { leaseClock in
      let store = InMemoryStore(leaseClock: leaseClock)
      last.find.withLock { $0 = { [weak store] in store } }
      return StoreBench(open: { store })
    }
    for seed in 0..<5 as Range<UInt64> {
      _ = simulation.run(seed: seed)
      #expect(last.find.withLock { $0 }.map { $0() == nil } == true)
    }
  }

  @Test(arguments: [
    "", "something else", "canonicalsync-world 1\n1 two 3", "canonicalsync-world 1\nfault x 1",
  ])
  func isNotReadFromOtherText(_ text: String) {
    #expect(Recording(text: text) == nil)
  }

  @Test func ofWhichNothingIsLeftIsTame() {
    let outcome = Simulation().replay(Recording(choices: []))
    #expect(outcome.violations == [])
    #expect(outcome.hazards == [])
  }

  @Test func thatFailsIsShrunkToWhatMakesItFail() throws {
    var simulation = Simulation()
    simulation.useSource { ForgetfulSource(base: $0) }
    let failure = try #require(
      (0..<20).lazy.map { simulation.run(seed: $0) }.first { !$0.violations.isEmpty })
    let small = simulation.shrink(failure.recording, attempts: 300)
    #expect(small.choices.count < failure.recording.choices.count / 2)
    let again = simulation.replay(small, keepsTimeline: true)
    #expect(again.violations.first?.promise == failure.violations.first?.promise)
    #expect(again.timeline.contains { $0.contains("!!") })
  }

  @Test func failsWhereWorkIsDoneOnAnotherThread() {
    var simulation = Simulation()
    simulation.useSource { EscapingSource(base: $0) }
    let outcome = simulation.run(seed: 1)
    #expect(outcome.violations.contains { [.containment, .liveness].contains($0.promise) })
  }
}

/// The last created store, as long as it is in use.
private final class LastStore: Sendable {
  let find = Mutex<(@Sendable () -> InMemoryStore?)?>(nil)
}

/// A source that omits the last change of each page.
private struct ForgetfulSource: ForwardingSource {
  let base: any RemoteRecordSource

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    if page.changes.count > 1 { page.changes.removeLast() }
    return page
  }
}

/// A source that works in a separate task, outside the world.
private struct EscapingSource: ForwardingSource {
  let base: any RemoteRecordSource

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let base = base
    let task = Task.detached { try await base.page(request) }
    do {
      return try await task.value
    } catch {
      throw SyncError(.remoteUnavailable, during: "fetching", underlying: error)
    }
  }
}
