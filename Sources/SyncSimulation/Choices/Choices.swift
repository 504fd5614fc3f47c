import InMemoryAdapters
import Synchronization

/// Where everything that is left to chance in a world is decided, one number at a time, and written down.
///
/// Zero is always the tamest answer: the oldest task goes on, nothing fails. So a recording that is cut short, or whose
/// numbers are put to zero, is a tamer run of the same world, which is what shrinking lives on.
final class Choices: Sendable {
  private struct State {
    var random: SplitMix64
    var script: [UInt32]?
    var made: [UInt32] = []
  }
  private let state: Mutex<State>
  private let trace: Trace

  /// Choices drawn from a seed.
  init(seed: UInt64, trace: Trace) {
    state = Mutex(State(random: SplitMix64(seed: seed)))
    self.trace = trace
  }

  /// Choices made before; past their end, all are zero.
  init(script: [UInt32], trace: Trace) {
    state = Mutex(State(random: SplitMix64(seed: 0), script: script))
    self.trace = trace
  }

  /// What was chosen so far.
  var made: [UInt32] { state.withLock { $0.made } }

  /// A number from zero to one below a bound.
  func below(_ bound: Int) -> Int {
    guard bound > 1 else { return 0 }
    let choice = state.withLock { state in
      var choice = 0
      if let script = state.script {
        if state.made.count < script.count { choice = min(Int(script[state.made.count]), bound - 1) }
      } else {
        choice = state.random.number(below: bound)
      }
      state.made.append(UInt32(choice))
      return choice
    }
    trace.mix(UInt64(choice))
    return choice
  }

  /// A number in a range, its lower end being the tamest.
  func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.count)
  }

  /// Whether something happens that happens once in so many times.
  func once(in times: Int) -> Bool {
    below(times) == max(1, times - 1)
  }

  /// One of some elements, the first being the tamest.
  func pick<Element>(_ first: Element, _ others: Element...) -> Element {
    let index = below(others.count + 1)
    return index == 0 ? first : others[index - 1]
  }

  /// A duration in a range, to a hundredth of it.
  func duration(_ range: ClosedRange<Duration>) -> Duration {
    range.lowerBound + (range.upperBound - range.lowerBound) * below(101) / 100
  }
}
