import Foundation
import Synchronization

/// Listens for Ctrl-C: the first one asks the tool to stop, the second ends the process at once.
///
/// Only while the value lives: afterwards the signals do again what they do by default.
package final class Interrupt: Sendable {
  private let signals: [Int32]
  // Dispatch's objects may be used from any thread, though not every platform's declarations say so.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
  private let presses = Mutex(0)

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - signals: The signals to take for a wish to stop.
  ///   - end: What the second signal does; by default it leaves with ``ExitCode/interrupted``, flushing nothing.
  ///   - stop: What the first signal does. It runs on a queue of its own, so even one that blocks can't keep the
  ///     second signal from being heard.
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
    // Dispatch begins to listen in its own time; a signal that came before would be lost.
    for _ in sources { listening.wait() }
    #if !os(Linux)
      // There a source only watches: the default action would still end the process. On Linux Dispatch has taken its place.
      // No sooner: what comes before somebody listens has to end the process, or nobody ever hears of it.
      for number in signals { signal(number, SIG_IGN) }
    #endif
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }

  /// Tells whether a signal has come.
  package var hasCome: Bool { presses.withLock { $0 > 0 } }

  private func press(stop: @escaping @Sendable () -> Void, end: () -> Void) {
    let count = presses.withLock { presses in
      presses += 1
      return presses
    }
    count == 1 ? DispatchQueue.global().async(execute: stop) : end()
  }
}
