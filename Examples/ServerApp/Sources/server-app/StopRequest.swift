import Dispatch
import Foundation

/// Waits for SIGTERM or Ctrl-C.
///
/// It ends the process if stopping takes longer than its grace.
struct StopRequest: Sendable {
  private let signals: AsyncStream<Void>
  // Dispatch's objects may be used from any thread.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init(grace: Duration) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    self.signals = signals
    let seconds = Int(grace.components.seconds)
    sources = [SIGTERM, SIGINT].map { number in
      // The source hears the signal in place of the default action.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        continuation.yield()
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
          say("did not stop within \(seconds) s", to: .standardError)
          exit(1)
        }
      }
      source.resume()
      return source
    }
  }

  func wait() async {
    for await _ in signals { return }
  }
}
