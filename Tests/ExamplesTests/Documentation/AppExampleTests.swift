import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncSimulation
import Testing

// The code of Docs/FirstApp.md: the tests of the app.

@Suite("The first app", .timeLimit(.minutes(10)))
struct FirstAppTests {
  private let remote = InMemoryRemote()
  private let opening = Date(timeIntervalSince1970: 1_775_066_400)

  private func boxOffice() async throws -> BoxOffice {
    remote.upsert("venues", "hall", #"{"id":"hall","name":"The Hall"}"#)
    remote.upsert(
      "concerts", "first",
      #"{"id":"first","venue":"hall","startsAt":"2026-04-01T18:00:00Z","tickets":"https://a.example/1","price":12.50,"seats":2}"#
    )
    let office = try await BoxOffice(store: InMemoryStore(), source: remote, sink: remote)
    _ = try await office.engine.sync()
    return office
  }

  @Test func showsWhatIsSold() async throws {
    let office = try await boxOffice()
    var upcoming = office.upcoming(from: opening).makeAsyncIterator()
    let concert = try #require(try await upcoming.next()?.first)
    #expect(concert.startsAt == opening && concert.tickets?.host() == "a.example" && concert.seats == 2)
    #expect(try await office.openValue() == 25)

    #expect(try await office.sell(2, of: "first"))
    #expect(try await upcoming.next()?.isEmpty == true)
    #expect(try await office.sell(1, of: "first") == false)
  }

  @Test func sendsDatesAndPricesAsTheRemoteWritesThem() async throws {
    let office = try await boxOffice()
    try await office.postpone("first", by: 3600)
    #expect(try await office.engine.sync().pushed.accepted == 1)
    let payload = try #require(remote.records(of: "concerts").first?.payload)
    let text = String(decoding: payload.bytes, as: UTF8.self)
    #expect(text.contains(#""startsAt":"2026-04-01T19:00:00Z""#) && text.contains(#""price":12.50"#))
  }

  @Test func sellsNoThirdOfTwoSeats() async throws {
    let offices = [try await boxOffice(), try await boxOffice()]
    for office in offices { _ = try await office.engine.sync() }
    for office in offices { #expect(try await office.sell(1, of: "first")) }
    for office in offices + offices { _ = try await office.engine.sync() }
    for office in offices { #expect(try await office.sell(1, of: "first") == false) }
  }

  @Test func keepsEveryPromiseInWorldsOfItsOwnRecords() throws {
    var simulation = Simulation()
    simulation.useRecords(try Self.worldRecords())
    simulation.useMergePolicy(SoldSeats(), reasons: SoldSeats.reasons)
    #expect(simulation.run(seeds: 0..<100).failures.map(\.outcome.violations) == [])
  }

  /// The box office and the shop, at random.
  private static func worldRecords() throws -> WorldRecords {
    var records = WorldRecords(try BoxOffice.schema())
    records.add(Venue.self) { key, random in
      Venue(id: key, name: random.pick("The Hall", "The Club"))
    } change: { venue, random in
      venue.name = random.pick("The Barn", "The Dome")
    }
    records.add(Concert.self) { key, random in
      Concert(
        id: key, venue: random.key(of: "venues"), startsAt: Date(timeIntervalSince1970: 1_775_066_400),
        tickets: URL(string: "https://a.example/\(key)"), price: Decimal(random.number(in: 10...12)), seats: 5
      )
    } change: { concert, random in
      if random.once(in: 2) { concert.seats -= 1 } else { concert.startsAt += 60 }
    }
    return records
  }

  /// Where both have sold, each device keeps its own state: what the other one sold is lost.
  struct RiggedSeats: MergePolicy {
    func settle(_ conflict: MergeConflict) -> MergeResolution {
      let fair = SoldSeats().settle(conflict)
      if case .merged = fair { return .local(reason: "mine") }
      return fair
    }
  }

  @Test func findsARiggedPolicyWithinAHundredWorlds() throws {
    var simulation = Simulation()
    simulation.useRecords(try Self.worldRecords())
    simulation.useMergePolicy(RiggedSeats())
    let found = (0..<100).lazy.map { simulation.run(seed: $0) }.first { !$0.violations.isEmpty }
    #expect(found?.violations.contains { $0.promise == .arithmetic } == true)
  }
}
