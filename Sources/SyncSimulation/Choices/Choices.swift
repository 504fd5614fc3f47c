import InMemoryAdapters
import Synchronization

/// Makes and records every random decision of a world, as numbers.
///
/// Zero is always the mildest choice: the oldest task continues, and nothing fails. A shortened
/// recording, or one with zeros, is therefore a milder run of the same world. Shrinking relies on
/// this.
final class Choices: Sendable {
  private struct State {
    var random: SplitMix64
    /// The generator of what is drawn apart.
    var apart: SplitMix64
    var script: [UInt32]?
    var made: [UInt32] = []
  }
  private let state: Mutex<State>
  private let trace: Trace

  /// Creates choices from a seed.
  init(seed: UInt64, trace: Trace) {
    state = Mutex(State(random: SplitMix64(seed: seed), apart: SplitMix64(seed: ~seed)))
    self.trace = trace
  }

  /// Creates choices from a recording; all later ones are zero.
  init(script: [UInt32], trace: Trace) {
    state = Mutex(State(random: SplitMix64(seed: 0), apart: SplitMix64(seed: 0), script: script))
    self.trace = trace
  }

  /// The choices so far.
  var made: [UInt32] { state.withLock { $0.made } }

  /// A number from zero to one below a bound.
  func below(_ bound: Int) -> Int {
    guard bound > 1 else { return 0 }
    let choice = choose(below: bound, by: \.random)
    trace.mix(UInt64(choice))
    return choice
  }

  /// Returns true with a probability of one in this many times, and leaves the seed's other choices as
  /// they are.
  func onceApart(in times: Int) -> Bool {
    choose(below: times, by: \.apart) == max(1, times - 1)
  }

  private func choose(below bound: Int, by random: WritableKeyPath<State, SplitMix64>) -> Int {
    state.withLock { state in
      var choice = 0
      if let script = state.script {
        if state.made.count < script.count { choice = min(Int(script[state.made.count]), bound - 1) }
      } else {
        choice = state[keyPath: random].number(below: bound)
      }
      state.made.append(UInt32(choice))
      return choice
    }
  }

  /// A number in a range; its lower end is the mildest.
  func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.count)
  }

  /// Returns true with a probability of one in this many times.
  func once(in times: Int) -> Bool {
    below(times) == max(1, times - 1)
  }

  /// One of some elements; the first one is the mildest.
  func pick<Element>(_ first: Element, _ others: Element...) -> Element {
    let index = below(others.count + 1)
    return index == 0 ? first : others[index - 1]
  }

  /// A duration in a range, with a resolution of a hundredth of the range.
  func duration(_ range: ClosedRange<Duration>) -> Duration {
    range.lowerBound + (range.upperBound - range.lowerBound) * below(101) / 100
  }
}
