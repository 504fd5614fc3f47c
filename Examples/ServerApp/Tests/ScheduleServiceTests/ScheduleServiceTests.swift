import CanonicalSync
import InMemoryAdapters
import ScheduleService
import SyncServing
import Testing

@Suite("The schedule service", .timeLimit(.minutes(10)))
struct ScheduleServiceTests {
  private let clock = ManualClock()
  private let remote = InMemoryRemote()
  private let store = InMemoryStore()
  private let connectivity = ManualConnectivity()

  init() {
    remote.upsert("teams", "BOS", #"{"id":"BOS","name":"Boston"}"#)
    remote.upsert("teams", "NYA", #"{"id":"NYA","name":"New York"}"#)
    addGame("1")
  }

  private func addGame(_ id: String) {
    remote.upsert(
      "games", id, #"{"id":"\#(id)","date":"2026-04-01","home_team_id":"BOS","away_team_id":"NYA"}"#)
  }

  private func service() async throws -> ScheduleService {
    try await ScheduleService(
      store: store, source: remote, policy: SyncPolicy(interval: .seconds(300)), connectivity: connectivity,
      clock: clock)
  }

  @Test func showsGamesWithTheirTeams() async throws {
    let service = try await service()
    #expect(try await service.syncIfDue()?.total.inserted == 3)
    let games = try await service.games(on: "2026-04-01")
    #expect(games.map { "\($0.id): \($0.away) at \($0.home)" } == ["1: New York at Boston"])
    #expect(try await service.games(on: "2026-04-02").isEmpty)
  }

  @Test func tellsAClientNothingOfARecordThatItCannotRead() async throws {
    remote.upsert("games", "secret", #"{"id":"secret","date":"2026-04-03"}"#)
    let service = try await service()
    _ = try await service.syncIfDue()
    #expect(await service.answer("/games/2026-04-03") == Answer(503, "undecodable\n"))
  }

  @Test func syncsAgainOnlyWhenItIsDueAlsoAfterARestart() async throws {
    _ = try await service().syncIfDue()
    addGame("2")
    clock.advance(by: .seconds(299))
    #expect(try await service().syncIfDue() == nil)
    clock.advance(by: .seconds(1))
    #expect(try await service().syncIfDue()?.total.inserted == 1)
  }

  @Test func letsOtherClientsReadTheRecordsAndWriteNone() async throws {
    let service = try await service()
    _ = try await service.syncIfDue()
    let records = try await service.records(in: store)
    let games = "/v1/buckets/league/collections/games/records"
    let list = await records.respond(to: ServiceRequest("GET", games))
    #expect(list.status == 200)
    #expect(String(decoding: list.bytes, as: UTF8.self).contains(#""date":"2026-04-01""#))
    for method in ["PUT", "DELETE"] {
      #expect(await records.respond(to: ServiceRequest(method, "\(games)/1")).status == 403)
    }
    addGame("2")
    clock.advance(by: .seconds(300))
    _ = try await service.syncIfDue()
    let since = list.headers["ETag"]?.filter(\.isNumber) ?? ""
    let delta = await records.respond(to: ServiceRequest("GET", "\(games)?_since=\(since)"))
    #expect(String(decoding: delta.bytes, as: UTF8.self).contains(#""id":"2""#))
  }

  @Test func asksForNothingWhileTheNetworkIsAway() async throws {
    connectivity.connectivity = .offline
    #expect(try await service().syncIfDue() == nil)
    #expect(remote.counters().requests == 0)
  }

  @Test func goesOnSyncingUntilItIsCancelled() async throws {
    let service = try await service()
    let (results, continuation) = AsyncStream.makeStream(of: Int.self)
    let loop = Task { await service.run { continuation.yield((try? $0.get().total.inserted) ?? -1) } }
    var inserted = results.makeAsyncIterator()
    #expect(await inserted.next() == 3)
    #expect(await clock.nextSleep() == .seconds(300))
    addGame("2")
    clock.advance(by: .seconds(300))
    #expect(await inserted.next() == 1)
    #expect(await clock.nextSleep() == .seconds(300))
    loop.cancel()
    await loop.value
    #expect(clock.sleepers == 0)
  }

  @Test func reportsAFailureAndTriesAgainLater() async throws {
    remote.behave(.fail(SyncError(.authentication, during: "asking")), on: 1)
    let service = try await service()
    let (results, continuation) = AsyncStream.makeStream(of: SyncError.Code?.self)
    let loop = Task {
      await service.run { result in
        if case .failure(let error) = result {
          continuation.yield(error.code)
        } else {
          continuation.yield(nil)
        }
      }
    }
    var codes = results.makeAsyncIterator()
    #expect(await codes.next() == .some(.authentication))
    #expect(await clock.nextSleep() == .seconds(300))
    clock.advance(by: .seconds(300))
    #expect(await codes.next() == .some(nil))
    loop.cancel()
    await loop.value
  }
}
