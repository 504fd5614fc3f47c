import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

@testable import SyncCore

@Suite("Priorities among types", .timeLimit(.minutes(10)))
struct PriorityTests {
  private static let entities = [
    Entity("sports"), Entity("stadiums"), Entity("teams", references: [.to("stadiums", by: "stadium")]),
    Entity("news"),
  ]

  private func schedule(_ width: Int) throws -> PullSchedule {
    let schema = try SyncSchema(Self.entities)
    return PullSchedule(schema.entities, of: schema, width: width)
  }

  @Test func letUrgentTypesAndWhatTheyReferToGoFirst() throws {
    var schedule = try schedule(4)
    let isNews = [schedule.prioritize(["teams", "news"]), schedule.prioritize(["teams", "news"])]
    #expect(isNews == [true, false])
    #expect(schedule.next().map(\.type) == ["stadiums"])
    schedule.ended("stadiums")
    #expect(schedule.next().map(\.type) == ["teams"])
    schedule.ended("teams")
    #expect(schedule.next().map(\.type) == ["news"])
    schedule.ended("news")
    #expect(schedule.next().map(\.type) == ["sports"])
    schedule.ended("sports")
    #expect(schedule.isOver)
  }

  @Test func holdTheOthersAtTheirNextPage() throws {
    var schedule = try schedule(1)
    let first = schedule.next().map(\.type)
    #expect(first.count == 1)
    let isHeldAtFirst = schedule.hold(first[0])
    #expect(!isHeldAtFirst)
    let urgent: RecordType = first == ["news"] ? "sports" : "news"
    schedule.prioritize([urgent])
    #expect(schedule.next().isEmpty)
    let isHeld = schedule.hold(first[0])
    #expect(isHeld)
    #expect(schedule.released().isEmpty)
    #expect(schedule.next().map(\.type) == [urgent])
    let isUrgentHeld = schedule.hold(urgent)
    #expect(!isUrgentHeld)
    schedule.ended(urgent)
    #expect(schedule.released() == first)
    #expect(schedule.next().isEmpty)
  }

  @Test func nameTheMostUrgentOfSome() throws {
    var schedule = try schedule(4)
    #expect(schedule.mostUrgent([]) == nil)
    #expect(schedule.mostUrgent(["sports", "news"]) == 0)
    schedule.prioritize(["teams"])
    #expect(schedule.mostUrgent(["sports", "stadiums", "news", "teams"]) == 1)
  }

  /// The types of the pages in request order, one second for each.
  private func requests(
    _ request: SyncRequest = SyncRequest(), raising urgent: RecordType? = nil, at number: Int = 0,
    width: Int = 4
  ) async throws -> [RecordType] {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.latency = .seconds(1)
    let clock = ManualClock()
    let remote = InMemoryRemote(configuration: configuration, clock: clock)
    for entity in Self.entities {
      for number in 1...30 { remote.upsert(entity.type, "k\(number)", #"{"id":"k\#(number)"}"#) }
    }
    let engine = try await SyncEngine(
      schema: SyncSchema(Self.entities), store: InMemoryStore(leaseClock: { clock.timestamp }),
      source: remote, clock: clock,
      options: SyncOptions(pageSize: 10, pagesAhead: 0, maximumConcurrentTypes: width))
    let asked = Mutex<[RecordType]>([])
    remote.onRequest = { request in
      let count = asked.withLock { asked in
        asked.append(request.entity.type)
        return asked.count
      }
      if let urgent, count == number { engine.prioritize([urgent]) }
    }
    let time = VirtualTime(clock)
    let sync = Task(executorPreference: time) { try await engine.sync(request) }
    time.pass(until: .seconds(600))
    let result = try await sync.value
    #expect(result.total.inserted == 120)
    return asked.withLock { $0 }
  }

  @Test func areFollowedFromTheStartOfASync() async throws {
    let asked = try await requests(SyncRequest(priority: ["teams"]))
    #expect(asked.count == 12)
    #expect(asked.prefix(6) == ["stadiums", "stadiums", "stadiums", "teams", "teams", "teams"])
  }

  @Test func letOneTypeOvertakeAnotherAtItsNextPage() async throws {
    let plain = try await requests(width: 1)
    let (first, last) = (plain[0], plain[11])
    #expect(plain.prefix(3) == [first, first, first])
    let asked = try await requests(raising: last, at: 1, width: 1)
    let prerequisites: [RecordType] = last == "teams" ? ["stadiums", "stadiums", "stadiums"] : []
    let urgent = prerequisites + [last, last, last]
    #expect(Array(asked[1...urgent.count]) == urgent)
    #expect(asked.count == 12)
  }

  @Test func letATypeOvertakeAllThatRunWithWhatItRefersTo() async throws {
    let asked = try await requests(raising: "teams", at: 1)
    // The concurrent requests are answered first. The stadiums follow, because the teams need them.
    #expect(Set(asked.prefix(3)) == ["sports", "stadiums", "news"])
    #expect(asked[3..<8] == ["stadiums", "stadiums", "teams", "teams", "teams"])
    #expect(asked.count == 12)
  }

  @Test func ofATypeThatIsNotDeclaredAreRefused() async throws {
    let world = try await World()
    await #expect(throws: SyncError.self) { try await world.engine.sync(SyncRequest(priority: ["nobody"])) }
    world.engine.prioritize(["nobody"])
    _ = try await world.engine.sync()
  }

  @Test func reachTheSyncUnderWayThroughTheCoordinator() async throws {
    let options = SyncOptions(pageSize: 10, pagesAhead: 0, maximumConcurrentTypes: 1)
    let world = try await CoordinatorWorld(latency: .seconds(1), engineOptions: options)
    for number in 1...50 { world.remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)"}"#) }
    await world.running {
      world.signal(.request)
      world.time.pass(until: .seconds(2.5))
      world.coordinator.requestSync(first: ["games"])
      world.time.pass(until: .seconds(60))
    }
    #expect(world.reasons == [[.request], [.request]])
    #expect(world.store.records(of: "teams").count == 50)
  }
}
