import Synchronization

/// The observed events and violations of a world.
final class Ledger: Sendable {
  private struct State {
    var sights: [Sight: Int] = [:]
    var violations: [Violation] = []
  }
  private let state = Mutex(State())
  private let trace: Trace

  init(trace: Trace) {
    self.trace = trace
  }

  var sights: [Sight: Int] { state.withLock { $0.sights } }
  var violations: [Violation] { state.withLock { $0.violations } }

  func saw(_ sight: Sight, times: Int = 1) {
    guard times > 0 else { return }
    state.withLock { $0.sights[sight, default: 0] += times }
  }

  /// Notes a violation; the first few are kept.
  func report(_ promise: Promise, _ words: String) {
    trace.tell("!!", "\(promise.rawValue): \(words)")
    state.withLock { state in
      if state.violations.count < 10 { state.violations.append(Violation(promise: promise, words: words)) }
    }
  }
}
