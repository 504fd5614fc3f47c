import CanonicalSyncToolSupport
import Foundation
import SyncSimulation
import Synchronization

/// Runs many worlds, on one thread for each processor.
///
/// It ends when all have run, the time is up, a stop is requested, or a world breaks a promise.
final class Workers: Sendable {
  private let next: Mutex<UInt64>
  private let end: UInt64
  private let deadline: ContinuousClock.Instant?
  private let isFailed = Mutex(false)
  private let isStopped: @Sendable () -> Bool
  private let progress = ProgressBar()
  private let watchdog = Watchdog()
  private let first: UInt64

  /// Plans the worlds.
  ///
  /// - Parameter isStopped: Whether a stop was requested. No world begins after that.
  init(first: Int, count: Int, seconds: Int?, isStopped: @escaping @Sendable () -> Bool) {
    self.isStopped = isStopped
    self.first = UInt64(first)
    next = Mutex(UInt64(first))
    end = UInt64(first) + UInt64(count)
    deadline = seconds.map { .now + .seconds($0) }
  }

  /// Runs one or more worlds for each seed.
  func run(_ world: @escaping @Sendable (UInt64) -> Campaign) async -> Campaign {
    let total = Mutex(Campaign())
    await watchdog.watching {
      await Self.onEachProcessor {
        let campaign = self.work(world)
        total.withLock { $0.add(campaign) }
      }
    }
    progress.finish()
    return total.withLock { $0 }
  }

  private func work(_ world: (UInt64) -> Campaign) -> Campaign {
    var campaign = Campaign()
    while let seed = take() {
      watchdog.begin("seed \(seed)")
      campaign.add(world(seed))
      watchdog.end("seed \(seed)")
      if !campaign.failures.isEmpty { isFailed.withLock { $0 = true } }
      progress.show("worlds", done: Int(seed - first), total: Int(end - first))
    }
    return campaign
  }

  private func take() -> UInt64? {
    if isFailed.withLock({ $0 }) || isStopped() { return nil }
    if let deadline, .now >= deadline { return nil }
    return next.withLock { next in
      guard next < end else { return nil }
      defer { next += 1 }
      return next
    }
  }

  /// Runs work on one thread for each processor, and waits for all of them.
  static func onEachProcessor(_ work: @escaping @Sendable () -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
              work()
              continuation.resume()
            }
          }
        }
      }
    }
  }
}
