/// What became of many worlds.
public struct Campaign: Sendable {
  /// How many worlds there were; those that were run twice count once.
  public private(set) var worlds = 0
  /// How many pieces of work were done in all of them.
  public private(set) var steps = 0
  /// A hash over everything that happened in all of them, in whatever order they were run: the same for the same seeds.
  public private(set) var hash: UInt64 = 0
  /// What was seen to happen, and how often.
  public private(set) var sights: [Sight: Int] = [:]
  /// The worlds in which a promise was broken, by seed.
  public private(set) var failures: [(seed: UInt64, outcome: Outcome)] = []

  /// No worlds yet.
  public init() {}

  /// Counts a world.
  public mutating func add(_ outcome: Outcome, seed: UInt64) {
    worlds += 1
    steps += outcome.steps
    hash &+= outcome.hash
    for (sight, count) in outcome.sights { sights[sight, default: 0] += count }
    if !outcome.violations.isEmpty { failures.append((seed, outcome)) }
  }

  /// Counts another campaign's worlds.
  public mutating func add(_ other: Campaign) {
    worlds += other.worlds
    steps += other.steps
    hash &+= other.hash
    for (sight, count) in other.sights { sights[sight, default: 0] += count }
    failures += other.failures
  }

  /// What has to happen in some world and happened in none: the worlds were too few, or too kind.
  public var unseen: [Sight] {
    Sight.allCases.filter { sights[$0, default: 0] == 0 }
  }
}

extension Simulation {
  /// Lets the worlds of some seeds happen, one after another; every hundredth twice, to see that it is the same.
  public func run(seeds: Range<UInt64>) -> Campaign {
    var campaign = Campaign()
    for seed in seeds { campaign.add(seed % 100 == 0 ? runTwice(seed: seed) : run(seed: seed), seed: seed) }
    return campaign
  }

  /// Lets the world of a seed happen twice, and says so if the second time went otherwise.
  public func runTwice(seed: UInt64) -> Outcome {
    var first = run(seed: seed)
    let second = run(seed: seed)
    if first.hash != second.hash {
      first.violations.append(
        Violation(promise: .determinism, words: "seed \(seed) went otherwise the second time"))
    }
    return first
  }

  /// Lets a small world of a seed happen once for each of its calls of ports, with a fault there.
  ///
  /// - Parameter faults: The faults to try at a call.
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
