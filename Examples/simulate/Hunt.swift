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
  private let killed = Mutex(0)
  private let isStopped: @Sendable () -> Bool
  private let watchdog = Watchdog()

  init(
    _ mutants: [String], _ simulation: Simulation, seeds: Range<UInt64>,
    isStopped: @escaping @Sendable () -> Bool
  ) {
    self.isStopped = isStopped
    waiting = Mutex(mutants[...])
    self.simulation = simulation
    self.seeds = seeds
  }

  /// Hunts them all, on a thread for each processor, and tells of each as soon as it is known.
  ///
  /// - Returns: How many flaws broke a promise of theirs first, and the names of the others. After a stop, not all are counted.
  func run() async -> (killed: Int, survivors: [String]) {
    await watchdog.watching {
      await Workers.onEachProcessor {
        while !self.isStopped(), let mutant = self.waiting.withLock({ $0.popFirst() }) { self.hunt(mutant) }
      }
    }
    return (killed.withLock { $0 }, survivors.withLock { $0 }.sorted())
  }

  private func hunt(_ mutant: String) {
    let hit = simulation.hunt(mutant: mutant, seeds: seeds) {
      self.watchdog.begin(mutant)
      return !self.isStopped()
    }
    watchdog.end(mutant)
    // A hunt that was stopped has not tried all seeds.
    if hit == nil, isStopped() { return }
    let violation = hit?.outcome.violations.first
    let isKilled = violation.map { Simulation.killers(of: mutant).contains($0.promise) } ?? false
    var story = "nobody noticed"
    if let hit, let violation {
      story = "seed \(hit.seed), "
      story += isKilled ? violation.promise.rawValue : "\(violation), which is not who should notice"
    }
    if isKilled { killed.withLock { $0 += 1 } }
    survivors.withLock { survivors in
      if !isKilled { survivors.append(mutant) }
      StandardStream.output.line("\(isKilled ? "killed  " : "SURVIVED") \(mutant): \(story)")
      StandardStream.output.flush()
    }
  }
}
