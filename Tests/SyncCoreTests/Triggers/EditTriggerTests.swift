import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

@Suite("What a coordinator hears of edits and networks", .timeLimit(.minutes(10)))
struct EditTriggerTests {
  struct Team: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "teams"
    var id: String
    var name: String
  }

  @Test func pushesAnEditSoonAndOnce() async throws {
    let world = try await CoordinatorWorld(pushes: true)
    await world.running {
      world.time.pass(until: .seconds(5))
      #expect(world.runs.isEmpty)
      try? await world.engine.edits.upsert(Team(id: "a", name: "A"))
      try? await world.engine.edits.upsert(Team(id: "b", name: "B"))
      world.time.pass(until: .seconds(60))
    }
    #expect(world.reasons == [[.edit]])
    #expect(world.remote.records(of: "teams").count == 2)
  }

  /// The process died right after the edit, or the coordinator did not run; the last attempt is fresh.
  @Test func pushesAnEditFromBeforeItRan() async throws {
    let world = try await CoordinatorWorld(pushes: true)
    await world.play([.init(0, .launch)], until: 5)
    try await world.engine.edits.upsert(Team(id: "a", name: "A"))
    await world.play([.init(6, .foreground)], until: 60)
    #expect(world.reasons == [[.launch], [.edit]])
    #expect(world.remote.records(of: "teams").map(\.key) == ["a"])
    // One that a planned sync sends asks for none of its own, and neither does a refused one.
    try await world.engine.edits.upsert(Team(id: "b", name: "B"))
    world.remote.rule(.refused(reason: "no"), on: "teams", "b")
    world.clock.advance(by: .seconds(600))
    world.signal(.launch)
    await world.play([], until: 720)
    await world.play([], until: 780)
    #expect(world.reasons == [[.launch], [.edit], [.launch]])
  }

  @Test func pushesADraftThatIsOlderThanOtherEdits() async throws {
    let world = try await CoordinatorWorld(pushes: true)
    let draft = RecordID(type: "teams", key: "a")
    await world.running {
      try? await world.engine.edits.upsert(Team(id: "a", name: "A"))
      try? await world.engine.edits.hold(draft)
      world.time.pass(until: .seconds(5))
      try? await world.engine.edits.upsert(Team(id: "b", name: "B"))
      world.time.pass(until: .seconds(60))
      #expect(world.remote.records(of: "teams").map(\.key) == ["b"])
      try? await world.engine.edits.release(draft)
      world.time.pass(until: .seconds(120))
    }
    #expect(world.remote.records(of: "teams").map(\.key) == ["a", "b"])
  }

  @Test func pushesADefaultOfATypeThatWasPulled() async throws {
    let world = try await CoordinatorWorld(pushes: true)
    await world.running {
      try? await world.engine.edits.upsert(Team(id: "b", name: "B"))
      world.time.pass(until: .seconds(60))
      _ = try? await world.engine.edits.seed(Team(id: "a", name: "A"))
      world.time.pass(until: .seconds(120))
    }
    #expect(world.remote.records(of: "teams").map(\.key) == ["a", "b"])
  }

  @Test func leavesEditsAloneIfToldSo() async throws {
    let world = try await CoordinatorWorld(options: .init(pushesEdits: false), pushes: true)
    await world.running {
      try? await world.engine.edits.upsert(Team(id: "a", name: "A"))
      world.time.pass(until: .seconds(60))
    }
    #expect(world.runs.isEmpty)
  }

  @Test func waitsForANetworkThatIsAllowed() async throws {
    let world = try await CoordinatorWorld(options: .init(allowsCellular: false))
    await world.play(
      [.init(0, .cellular), .init(1, .request), .init(2, .push), .init(50, .wifi)], until: 100)
    #expect(world.runs.allSatisfy { $0 >= 50 } && !world.runs.isEmpty)
    let free = try await CoordinatorWorld()
    await free.play([.init(0, .cellular), .init(1, .request)], until: 100)
    #expect(free.runs == [1])
  }

  @Test func ignoresTypesThatItDoesNotKnow() async throws {
    let told = Mutex<[[RecordType]]>([])
    let world = try await CoordinatorWorld(observe: { event in
      if case .unknownTypes(let types) = event { told.withLock { $0.append(types) } }
    })
    await world.running {
      world.coordinator.pushSignal(first: ["teams", "futures"])
      world.time.pass(until: .seconds(30))
      world.coordinator.requestSync(first: ["futures"])
      world.time.pass(until: .seconds(60))
    }
    #expect(told.withLock { $0 } == [["futures"], ["futures"]])
    #expect(world.runs.count == 2)
    #expect(world.coordinator.status.lastProblem == nil)
  }
}
