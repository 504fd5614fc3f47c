import CanonicalSyncToolSupport
import Synchronization

/// Ends the process with a failure when a world does not end, and names it.
///
/// A world takes milliseconds. An endless loop in a world cannot be stopped from outside, and would
/// silently hold up a whole test run.
final class Watchdog: Sendable {
  private let underWay = Mutex<[String: ContinuousClock.Instant]>([:])
  private static let limit = Duration.seconds(120)

  /// Runs work under the watchdog.
  func watching<R: Sendable>(_ work: () async -> R) async -> R {
    let watch = Task {
      while !Task.isCancelled {
        // Cancellation ends the watchdog.
        try? await Task.sleep(for: .seconds(1))
        self.look()
      }
    }
    defer { watch.cancel() }
    return await work()
  }

  /// Starts the time of a world with this name. The previous one of that name has ended.
  func begin(_ name: String) { underWay.withLock { $0[name] = .now } }

  func end(_ name: String) { underWay.withLock { $0[name] = nil } }

  private func look() {
    let late = underWay.withLock { worlds in worlds.filter { $0.value.duration(to: .now) > Self.limit }.keys }
    guard !late.isEmpty else { return }
    StandardStream.output.flush()
    for name in late.sorted() {
      StandardStream.error.line("simulate: \(name): a world has not ended after \(Self.limit)")
    }
    ExitCode.failure.endProcess()
  }
}
