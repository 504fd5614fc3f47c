import SyncSimulation
import Testing

/// A few worlds, to test the simulator itself.
///
/// Optimized builds run thousands. A failure names its seed.
@Suite("Whatever happens,", .timeLimit(.minutes(15)))
struct PromiseTests {
  @Test func everyPromiseIsKeptInEveryWorld() async {
    let campaign = await Campaign.inParallel(worlds: 100) { Simulation().run(seeds: $0) }
    for (seed, outcome) in campaign.failures { Issue.record("seed \(seed): \(outcome.violations)") }
    #expect(campaign.worlds == 100)
    #expect(campaign.unseen.count < Sight.allCases.count / 4)
  }

  @Test func aChangeThatObserversAreNotToldOfIsFound() {
    let found = Simulation().hunt(mutant: "storeForgetsAnObservedChange", seeds: 0..<40)
    #expect(found?.outcome.violations.first?.promise == .observation)
  }

  @Test func everyPromiseOutlivesAFaultAtAnyCall() async {
    var simulation = Simulation()
    simulation.hazards = [.lateCommits, .malformed, .newerSchemas, .expiringTokens, .oddPages, .wipes]
    let kinds = SweptFault.allCases
    let campaign = await Campaign.inParallel(worlds: 4) { [simulation] seeds in
      var campaign = Campaign()
      for seed in seeds {
        campaign.add(simulation.sweep(seed: seed) { [kinds[(Int(seed) + $0) % kinds.count]] })
      }
      return campaign
    }
    for (seed, outcome) in campaign.failures {
      Issue.record("seed \(seed), \(String(describing: outcome.recording.fault)): \(outcome.violations)")
    }
    #expect(campaign.worlds > 4 * 20)
  }
}
