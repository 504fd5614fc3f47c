import Foundation
import Synchronization

/// Handles Ctrl-C: the first one stops the tool, the second ends the process at once.
///
/// It does so only while the value lives. Afterwards the signals have their default actions again.
package final class Interrupt: Sendable {
  private let signals: [Int32]
  // Dispatch's objects may be used from any thread, though not every platform's declarations say
  // so.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
  private let presses = Mutex(0)

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - signals: The signals that request a stop.
  ///   - end: The action of the second signal. By default it exits with ``ExitCode/interrupted``
  ///     and flushes nothing.
  ///   - stop: The action of the first signal. It runs on a queue of its own, so even a blocking
  ///     one cannot delay the second signal.
  package init(
    on signals: [Int32] = [SIGINT],
    secondTime end: @escaping @Sendable () -> Void = { _exit(ExitCode.interrupted.rawValue) },
    stop: @escaping @Sendable () -> Void
  ) {
    self.signals = signals
    let queue = DispatchQueue(label: "interrupt", qos: .userInitiated)
    let listening = DispatchSemaphore(value: 0)
    sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
    for source in sources {
      source.setEventHandler { [weak self] in self?.press(stop: stop, end: end) }
      source.setRegistrationHandler { listening.signal() }
      source.resume()
    }
    // Dispatch registers asynchronously; a signal before that would be lost.
    for _ in sources { listening.wait() }
    #if !os(Linux)
      // There a source only watches: the default action would still end the process. On Linux
      // Dispatch has replaced it. The default action stays until the source listens, so an earlier
      // signal ends the process and is not lost.
      for number in signals { signal(number, SIG_IGN) }
    #endif
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }

  /// Whether a signal has come.
  package var hasCome: Bool { presses.withLock { $0 > 0 } }

  private func press(stop: @escaping @Sendable () -> Void, end: () -> Void) {
    let count = presses.withLock { presses in
      presses += 1
      return presses
    }
    count == 1 ? DispatchQueue.global().async(execute: stop) : end()
  }
}
