import Synchronization
import ToolSupport

/// Ends the process with a failure when a world goes on without end, and says which.
///
/// A world takes milliseconds. One that an endless loop holds up cannot be stopped from outside, and without a word it would hold up a whole run of tests.
final class Watchdog: Sendable {
  private let underWay = Mutex<[String: ContinuousClock.Instant]>([:])
  private static let limit = Duration.seconds(120)

  /// Does some work with the dog watching.
  func watching<R: Sendable>(_ work: () async -> R) async -> R {
    let watch = Task {
      while !Task.isCancelled {
        // Cancelled, it ends.
        try? await Task.sleep(for: .seconds(1))
        self.look()
      }
    }
    defer { watch.cancel() }
    return await work()
  }

  /// A world of this name begins now; the one before it of the same name has ended.
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
