#if MUTANTS
  import Foundation
  import SyncSimulation
  import Synchronization
  import ToolSupport

  /// Builds one flaw after another in, and looks who notices.
  final class Hunt: Sendable {
    private let simulation: Simulation
    private let seeds: Range<UInt64>
    private let waiting: Mutex<ArraySlice<String>>
    private let survivors = Mutex<[String]>([])

    init(_ mutants: [String], _ simulation: Simulation, seeds: Range<UInt64>) {
      waiting = Mutex(mutants[...])
      self.simulation = simulation
      self.seeds = seeds
    }

    /// Hunts them all, on a thread for each processor, and tells of each as soon as it is known.
    ///
    /// - Returns: The names of those that nobody noticed, or only somebody who was not meant to.
    func run() async -> [String] {
      await Workers.onEachProcessor {
        while let mutant = self.waiting.withLock({ $0.popFirst() }) { self.hunt(mutant) }
      }
      return survivors.withLock { $0 }.sorted()
    }

    private func hunt(_ mutant: String) {
      let hit = simulation.hunt(mutant: mutant, seeds: seeds)
      let promise = hit?.outcome.violations.first?.promise
      let isKilled = promise.map { Simulation.killers(of: mutant).contains($0) } ?? false
      var story = "nobody noticed"
      if let hit, let promise {
        story = "seed \(hit.seed), \(promise.rawValue)\(isKilled ? "" : ", which is not who should notice")"
      }
      survivors.withLock { survivors in
        if !isKilled { survivors.append(mutant) }
        StandardStream.output.line("\(isKilled ? "killed  " : "SURVIVED") \(mutant): \(story)")
        StandardStream.output.flush()
      }
    }
  }
#endif
