import Foundation
import SyncSimulation
import Synchronization

extension Campaign {
  /// Runs many worlds, on separate threads.
  ///
  /// A world occupies its thread, and other tests need theirs.
  static func inParallel(
    worlds: Int, _ run: @escaping @Sendable (Range<UInt64>) -> Campaign
  ) async -> Campaign {
    let next = Place()
    let portion = max(1, worlds / 64)
    return await withTaskGroup(of: Campaign.self) { group in
      for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          await onThread {
            var campaign = Campaign()
            while true {
              let start = next.take(portion)
              guard start < worlds else { return campaign }
              campaign.add(run(UInt64(start)..<UInt64(min(start + portion, worlds))))
            }
          }
        }
      }
      return await group.reduce(into: Campaign()) { $0.add($1) }
    }
  }

  private static func onThread(_ work: @escaping @Sendable () -> Campaign) async -> Campaign {
    await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async { continuation.resume(returning: work()) }
    }
  }
}

/// The start of the next portion.
private final class Place: Sendable {
  private let state = Mutex(0)

  func take(_ portion: Int) -> Int {
    state.withLock { place in
      defer { place += portion }
      return place
    }
  }
}
