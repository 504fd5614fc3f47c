import CanonicalSyncToolSupport
import Foundation
import SyncSimulation
import Synchronization

/// Runs each mutant, and checks that a promise detects it.
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

  /// Runs all mutants, on one thread for each processor, and prints each result at once.
  ///
  /// - Returns: The number of mutants that broke one of their own promises first, and the names of
  ///   the others. After a stop, not all are counted.
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
    var story = "not detected"
    if let hit, let violation {
      story = "seed \(hit.seed), "
      story +=
        isKilled ? violation.promise.rawValue : "\(violation), which is not the promise that should break"
    }
    if isKilled { killed.withLock { $0 += 1 } }
    survivors.withLock { survivors in
      if !isKilled { survivors.append(mutant) }
      StandardStream.output.line("\(isKilled ? "killed  " : "SURVIVED") \(mutant): \(story)")
      StandardStream.output.flush()
    }
  }
}
