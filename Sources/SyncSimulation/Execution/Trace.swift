import SyncCore
import SyncModels
import Synchronization

/// The events of a world: a hash over all of them and, optionally, the events themselves.
final class Trace: Sendable {
  private struct State {
    // FNV-1a, word by word.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    var events: [WorldEvent] = []
  }
  private let state = Mutex(State())
  /// Whether events are kept.
  let keepsEvents: Bool
  private let elapsed = Mutex<(@Sendable () -> Duration)?>(nil)

  init(keepsEvents: Bool) {
    self.keepsEvents = keepsEvents
  }

  var hash: UInt64 { state.withLock { $0.hash } }
  var events: [WorldEvent] { state.withLock { $0.events } }

  /// Sets the time for later events.
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

  /// Notes an event, if events are kept.
  func tell(
    _ who: String, as kind: WorldEvent.Kind = .note, _ words: @autoclosure () -> String,
    facts: @autoclosure () -> WorldEvent.Facts = .none
  ) {
    guard keepsEvents else { return }
    let event = WorldEvent(time: time, who: who, kind: kind, words: words(), facts: facts())
    state.withLock { $0.events.append(event) }
  }
}

extension [WorldEvent] {
  /// The events as lines, of which repeated ones are one.
  var timeline: [String] {
    var lines: [String] = []
    var (last, repeats) = ("", 0)
    func closeRepeats() {
      if repeats > 0 { lines.append("\(String(repeating: " ", count: 10))  … \(repeats) more times") }
      repeats = 0
    }
    for event in self {
      let (seconds, attoseconds) = event.time.components
      let milliseconds = String(attoseconds / 1_000_000_000_000_000)
      let fraction = String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
      let time = "\(seconds).\(fraction)".paddedBefore(to: 10)
      for words in event.words.split(separator: "\n") {
        let text = "\(event.who.padded(to: 10))  \(words)"
        if text == last {
          repeats += 1
          continue
        }
        closeRepeats()
        last = text
        lines.append("\(time)  \(text)")
      }
    }
    closeRepeats()
    return lines
  }
}
