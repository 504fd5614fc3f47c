import SyncModels
import SyncPorts

/// The stop of a sync, by cancellation of its task or of the caller's token.
///
/// All code of a sync checks for a stop here.
struct StopSignal: Sendable {
  static let pollInterval = Duration.milliseconds(100)

  var token: (any CancellationToken)?

  /// Whether the task or the token was cancelled.
  var isRaised: Bool {
    return Task.isCancelled || token?.isCancelled == true
  }

  /// Runs some work, and cancels it if the signal is raised first.
  ///
  /// - Returns: The work's result; `nil` if the signal was raised.
  func race<R: Sendable>(clock: any Clock<Duration>, _ work: @escaping @Sendable () async -> R) async -> R? {
    await withTaskGroup(of: R?.self) { group in
      group.addTask { await work() }
      if token != nil {
        group.addTask {
          await wait(clock: clock)
          return nil
        }
      }
      defer { group.cancelAll() }
      let first = await group.next() ?? nil
      return isRaised ? nil : first
    }
  }

  /// Returns once the token or the task is cancelled.
  func wait(clock: any Clock<Duration>) async {
    guard let token else { return }
    if let source = token as? CancellationSource { return await source.waitUntilCancelled() }
    while !isRaised {
      // A cancelled sleep means that the signal is raised.
      try? await clock.pause(for: Self.pollInterval)
    }
  }
}
