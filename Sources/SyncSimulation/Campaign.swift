/// The combined outcome of many worlds.
public struct Campaign: Sendable {
  /// The number of worlds. A world that runs twice counts once.
  public private(set) var worlds = 0
  /// The number of jobs that ran in all worlds.
  public private(set) var steps = 0
  /// A hash over all events in all worlds, independent of their order.
  ///
  /// The same seeds give the same hash.
  public private(set) var hash: UInt64 = 0
  /// The observed events, with their numbers.
  public private(set) var sights: [Sight: Int] = [:]
  /// How the merge policy resolved conflicts, with their numbers.
  public private(set) var decisions: [PolicyDecision: Int] = [:]
  /// The worlds in which a promise was broken, by seed.
  public private(set) var failures: [(seed: UInt64, outcome: Outcome)] = []

  /// Creates a campaign without worlds.
  public init() {}

  /// Adds a world.
  public mutating func add(_ outcome: Outcome, seed: UInt64) {
    worlds += 1
    steps += outcome.steps
    hash &+= outcome.hash
    for (sight, count) in outcome.sights { sights[sight, default: 0] += count }
    for (decision, count) in outcome.decisions { decisions[decision, default: 0] += count }
    if !outcome.violations.isEmpty { failures.append((seed, outcome)) }
  }

  /// Adds another campaign's worlds.
  public mutating func add(_ other: Campaign) {
    worlds += other.worlds
    steps += other.steps
    hash &+= other.hash
    for (sight, count) in other.sights { sights[sight, default: 0] += count }
    for (decision, count) in other.decisions { decisions[decision, default: 0] += count }
    failures += other.failures
  }

  /// Adds a failure if the worlds did not test a policy.
  ///
  /// - Parameter seed: The seed of the last world.
  mutating func demand(_ coverage: PolicyCoverage, seed: UInt64) {
    guard let gap = coverage.gap(in: decisions, worlds: worlds) else { return }
    failures.append(
      (
        seed,
        Outcome(
          violations: [gap], sights: [:], hazards: [], hash: 0, steps: 0, calls: 0,
          recording: Recording(choices: []), timeline: [])
      ))
  }

  /// The events that must occur in some world, and occurred in none.
  ///
  /// The worlds were then too few, or their faults too rare.
  public var unseen: [Sight] {
    Sight.allCases.filter { sights[$0, default: 0] == 0 }
  }
}

extension Simulation {
  /// Runs the worlds of some seeds in order.
  ///
  /// Every hundredth world runs twice, to check that both runs are equal. If the worlds have a
  /// merge policy of the app's and did not put each of its branches to the test, the last seed
  /// counts as a failure of ``Promise/coverage``.
  public func run(seeds: Range<UInt64>) -> Campaign {
    var campaign = Campaign()
    for seed in seeds { campaign.add(seed % 100 == 0 ? runTwice(seed: seed) : run(seed: seed), seed: seed) }
    if let coverage, let last = seeds.last { campaign.demand(coverage, seed: last) }
    return campaign
  }

  /// Runs the world of a seed twice, and reports any difference.
  public func runTwice(seed: UInt64) -> Outcome {
    var first = run(seed: seed)
    let second = run(seed: seed)
    if first.hash != second.hash {
      first.violations.append(
        Violation(promise: .determinism, words: "seed \(seed) gave another trace the second time"))
    }
    return first
  }

  /// Runs a small world once for each of its port calls, with a fault there.
  ///
  /// - Parameters:
  ///   - seed: The number that determines the world.
  ///   - faults: The faults to try at a call.
  public func sweep(seed: UInt64, faults: (_ call: Int) -> [SweptFault]) -> Campaign {
    var campaign = Campaign()
    let calm = run(seed: seed, fault: .failBefore, atCall: 0)
    campaign.add(calm, seed: seed)
    guard calm.calls > 0 else { return campaign }
    for call in 1...calm.calls {
      for fault in faults(call) { campaign.add(run(seed: seed, fault: fault, atCall: call), seed: seed) }
    }
    return campaign
  }
}

/// The outcome of one world.
public struct Outcome: Sendable {
  /// The broken promises in order of detection; none in a correct world.
  public var violations: [Violation]
  /// The observed events, with their numbers.
  public var sights: [Sight: Int]
  /// How the merge policy resolved conflicts, with their numbers.
  public var decisions: [PolicyDecision: Int] = [:]
  /// The hazards of this world.
  public var hazards: Set<Hazard>
  /// A hash over all events: the same for the same seed.
  public var hash: UInt64
  /// The number of jobs that ran.
  public var steps: Int
  /// The number of port calls before the faults ended.
  public var calls: Int
  /// The choices, to replay the world.
  public var recording: Recording
  /// A line for each event, if requested.
  public var timeline: [String]
  /// The events themselves, if requested.
  package var events: [WorldEvent] = []
}
