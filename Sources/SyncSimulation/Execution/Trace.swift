import Synchronization

/// The events of a world: a hash over all of them and, optionally, lines.
final class Trace: Sendable {
  private struct State {
    // FNV-1a, word by word.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    var lines: [String] = []
    /// The last line without its time, and how often it came again since.
    var last = ""
    var repeats = 0

    /// Notes how often the last line was repeated.
    mutating func closeRepeats() {
      if repeats > 0 { lines.append("\(String(repeating: " ", count: 10))  … \(repeats) more times") }
      repeats = 0
    }
  }
  private let state = Mutex(State())
  /// Whether lines are kept.
  let keepsLines: Bool
  private let elapsed = Mutex<(@Sendable () -> Duration)?>(nil)

  init(keepsLines: Bool) {
    self.keepsLines = keepsLines
  }

  var hash: UInt64 { state.withLock { $0.hash } }
  /// The lines, of which repeated ones are one.
  var lines: [String] {
    state.withLock { state in
      state.closeRepeats()
      return state.lines
    }
  }

  /// Sets the time for later lines.
  func stamp(with elapsed: @escaping @Sendable () -> Duration) {
    self.elapsed.withLock { $0 = elapsed }
  }

  /// The elapsed time of the world.
  var time: Duration { elapsed.withLock { $0 }?() ?? .zero }

  /// Adds a number to the hash.
  func mix(_ number: UInt64) {
    state.withLock { $0.hash = ($0.hash ^ number) &* 0x100_0000_01b3 }
  }

  /// Adds text to the hash.
  func mix(_ text: String) {
    state.withLock { state in
      for byte in text.utf8 { state.hash = (state.hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
  }

  /// Writes a line, if lines are kept.
  func tell(_ who: String, _ line: @autoclosure () -> String) {
    guard keepsLines else { return }
    let (seconds, attoseconds) = time.components
    let milliseconds = String(attoseconds / 1_000_000_000_000_000)
    let fraction = String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
    let time = "\(seconds).\(fraction)"
    let margin = String(repeating: " ", count: max(0, 10 - time.count))
    let text = "\(who)\(String(repeating: " ", count: max(0, 10 - who.count)))  \(line())"
    state.withLock { state in
      if text == state.last { return state.repeats += 1 }
      state.closeRepeats()
      state.last = text
      state.lines.append("\(margin)\(time)  \(text)")
    }
  }
}
