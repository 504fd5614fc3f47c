import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Elections")
struct ElectionTests {
  /// The same meters with the same times arrive in any order.
  ///
  /// They are merged in batches of any size.
  @Test(arguments: 0..<60 as Range<UInt64>)
  func giveTheSameWinnersWhateverTheOrderOfArrival(_ seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    var meters: [(key: String, mac: String, second: Int64)] = []
    for number in 1...Int.random(in: 2...24, using: &random) {
      // Few addresses and few times, so that there are groups and ties.
      meters.append(
        ("m\(number)", "\(Int.random(in: 0...4, using: &random))", .random(in: 0...3, using: &random)))
    }
    var winners: [String: (key: String, second: Int64)] = [:]
    for meter in meters {
      guard let best = winners[meter.mac] else {
        winners[meter.mac] = (meter.key, meter.second)
        continue
      }
      let isLater =
        meter.second == best.second
        ? meter.key.utf8.lexicographicallyPrecedes(best.key.utf8) : meter.second > best.second
      if isLater { winners[meter.mac] = (meter.key, meter.second) }
    }
    for _ in 0..<2 {
      let world = try await MeterWorld()
      let arrivals = meters.shuffled(using: &random)
      let half = Int.random(in: 0...arrivals.count, using: &random)
      for meter in arrivals[..<half] { world.meter(meter.key, mac: meter.mac, at: meter.second) }
      _ = try await world.engine.sync()
      for meter in arrivals[half...] { world.meter(meter.key, mac: meter.mac, at: meter.second) }
      _ = try await world.engine.sync()
      let report = try await world.engine.rebuildDuplicates(
        of: "meters", version: 1, options: RebuildOptions(recordsAtOnce: .random(in: 2...9, using: &random)))
      #expect(Set(world.keys()) == Set(winners.values.map(\.key)))
      #expect(report.counts.losers == meters.count - winners.count)
      #expect(try await world.outbox().count == meters.count - winners.count)
    }
  }

  /// The seconds by which a copy's stamp is ahead of its arrival at the remote. A stamp beyond the
  /// bound wins nothing.
  @Test(arguments: [(0, "b"), (200, "a"), (100_000, "b")] as [(Int64, String)])
  func doNotBelieveAStampFromTheFuture(_ ahead: Int64, _ winner: String) async throws {
    let entity = Entity("meters", naturalKey: NaturalKey("mac"), stampField: "edited")
    for isLater in [true, false] {
      let world = try await MeterWorld([entity])
      // The local clock may be behind both, or past the stamp's time. It is not used.
      if isLater { world.world.clock.advance(by: .seconds(1_000_000)) }
      let stamps = [("a", Int64(100)), ("b", 200)].map { key, second in
        let written = MeterWorld.day + .seconds(second) + .seconds(key == "a" ? ahead : 0)
        return (key, second, EditStamp(physical: written, replica: key))
      }
      for (key, second, stamp) in stamps {
        world.meter(key, mac: "1", at: second, #","edited":"\#(stamp)""#)
      }
      _ = try await world.engine.sync()
      try await world.engine.rebuildDuplicates(of: "meters", version: 1)
      #expect(world.keys() == [winner])
    }
  }

  /// A changed reference is an edit, but its record does not win by it.
  @Test(arguments: [2, 400])
  func doNotCountWhatTheRebuildItselfWrote(_ recordsAtOnce: Int) async throws {
    let world = try await MeterWorld()
    world.meter("a1", mac: "1", at: 1)
    world.meter("a2", mac: "1", at: 2)
    world.meter("b1", mac: "2", at: 1, #","parent":"a1""#)
    world.meter("b2", mac: "2", at: 2)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(recordsAtOnce: recordsAtOnce))
    #expect(world.keys() == ["a2", "b2"])
  }
}
