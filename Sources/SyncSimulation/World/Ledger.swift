import SyncModels
import Synchronization

/// The observed events and violations of a world.
final class Ledger: Sendable {
  private struct State {
    var sights: [Sight: Int] = [:]
    var violations: [Violation] = []
    var decisions: [PolicyDecision: Int] = [:]
  }
  private let state = Mutex(State())
  let trace: Trace

  init(trace: Trace) {
    self.trace = trace
  }

  var sights: [Sight: Int] { state.withLock { $0.sights } }
  var violations: [Violation] { state.withLock { $0.violations } }
  var decisions: [PolicyDecision: Int] { state.withLock { $0.decisions } }

  /// Notes how a merge policy resolved a conflict.
  func settled(_ decision: PolicyDecision) { state.withLock { $0.decisions[decision, default: 0] += 1 } }

  func saw(_ sight: Sight, times: Int = 1) {
    guard times > 0 else { return }
    state.withLock { $0.sights[sight, default: 0] += times }
  }

  /// Notes a violation; the first few are kept, and each observation once.
  ///
  /// - Parameter records: What the observation is about, the first one most of all.
  func report(_ promise: Promise, _ words: String, about records: [RecordID] = [], of type: RecordType? = nil)
  {
    let violation = Violation(promise: promise, words: words, records: records, type: type)
    trace.tell("!!", as: .broken, "\(promise.rawValue): \(words)", facts: .broken(violation))
    state.withLock { state in
      if state.violations.count < 10, !state.violations.contains(violation) {
        state.violations.append(violation)
      }
    }
  }
}
