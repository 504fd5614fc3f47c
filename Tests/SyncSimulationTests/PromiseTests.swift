import Foundation
import SyncSimulation
import Testing

/// Worlds by the thousand. A failure names its seed.
@Suite("Whatever happens,", .timeLimit(.minutes(15)))
struct PromiseTests {
  /// How many worlds are tried, of those that fill a minute: fewer where a sanitizer makes each of them slow.
  static func share(_ whole: Int) -> Int {
    let environment = ProcessInfo.processInfo.environment
    if environment["CANONICALSYNC_SOAK"] != nil { return whole * 20 }
    return environment["CANONICALSYNC_BRIEF"] != nil ? whole / 20 : whole
  }

  @Test func everyPromiseIsKeptInEveryWorld() async {
    let campaign = await Campaign.inParallel(worlds: Self.share(1000)) { Simulation().run(seeds: $0) }
    for (seed, outcome) in campaign.failures { Issue.record("seed \(seed): \(outcome.violations)") }
    // A handful of worlds cannot show everything.
    if campaign.worlds >= 1000 { #expect(campaign.unseen == []) }
  }

  @Test func everyPromiseOutlivesAFaultAtAnyCall() async {
    var simulation = Simulation()
    simulation.hazards = [.lateCommits, .poison, .newerSchemas, .expiringTokens, .oddPages, .wipes]
    let kinds = SweptFault.allCases
    let campaign = await Campaign.inParallel(worlds: Self.share(50)) { [simulation] seeds in
      var campaign = Campaign()
      for seed in seeds {
        campaign.add(simulation.sweep(seed: seed) { [kinds[(Int(seed) + $0) % kinds.count]] })
      }
      return campaign
    }
    for (seed, outcome) in campaign.failures {
      Issue.record("seed \(seed), \(String(describing: outcome.recording.fault)): \(outcome.violations)")
    }
    #expect(campaign.worlds > Self.share(50) * 20)
  }
}
