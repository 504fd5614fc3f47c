import SyncModels
import SyncPorts

/// Whether a sync should stop: the one place where its task's cancellation and the caller's token are asked about.
struct StopSignal: Sendable {
  static let pollInterval = Duration.milliseconds(100)

  var token: (any CancellationToken)?

  /// Whether either has been cancelled.
  var isRaised: Bool {
    #if MUTANTS
      if Mutant.cancellationUnheard.isActive { return Task.isCancelled }
    #endif
    return Task.isCancelled || token?.isCancelled == true
  }

  /// Runs some work, unless the signal is raised before it is done; then the work is cancelled, and there is no result.
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

  /// Returns once the token is cancelled, or the task is.
  func wait(clock: any Clock<Duration>) async {
    guard let token else { return }
    #if MUTANTS
      if Mutant.cancellationUnheard.isActive {
        return (try? await clock.pause(for: .seconds(1 << 30))) ?? ()
      }
    #endif
    if let source = token as? CancellationSource { return await source.waitUntilCancelled() }
    while !isRaised {
      // A cancelled sleep is a raised signal.
      try? await clock.pause(for: Self.pollInterval)
    }
  }
}
