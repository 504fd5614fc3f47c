import CanonicalSync
import Dispatch
import Synchronization

/// Shows progress on standard error.
///
/// On a terminal it is a line that redraws itself, elsewhere a few plain lines.
package final class ProgressBar: Sendable {
  private struct State {
    var label: String?
    var began = Duration.zero
    var current: ProgressState?
    var pace = ProgressPace()
    var drawn: (state: ProgressState, instant: Duration)?
    var isOnScreen = false
    /// The pause that is under way.
    var wait: Wait?
    var waits = 0
  }
  private struct Wait {
    var label: String
    var reason: String
    var end: Duration
    var number: Int
  }
  private let width: (@Sendable () -> Int)?
  private let isQuiet: @Sendable () -> Bool
  private let paint: @Sendable (String) -> String
  private let now: @Sendable () -> Duration
  private let write: @Sendable (String) -> Void
  private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state = Mutex(State())

  /// Creates a bar on a stream, in the form that suits the stream.
  package convenience init(on stream: StandardStream = .error) {
    let start = ContinuousClock.now
    let width: @Sendable () -> Int = { stream.columns }
    self.init(
      width: stream.isTerminal ? width : nil, isQuiet: { stream.isQuiet },
      paint: { stream.isColoured ? Ink.warning.paint($0) : $0 },
      now: { start.duration(to: .now) }, write: { stream.write($0) },
      later: { DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1), execute: $0) })
  }

  /// Creates a bar with its environment.
  ///
  /// - Parameters:
  ///   - width: The terminal's width; `nil` for a log.
  ///   - isQuiet: Whether only warnings are written.
  ///   - paint: Colours a warning.
  ///   - now: The time.
  ///   - write: The output.
  ///   - later: Runs a closure after a second.
  init(
    width: (@Sendable () -> Int)?, isQuiet: @escaping @Sendable () -> Bool = { false },
    paint: @escaping @Sendable (String) -> String = { $0 }, now: @escaping @Sendable () -> Duration,
    write: @escaping @Sendable (String) -> Void,
    later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in }
  ) {
    self.width = width
    self.isQuiet = isQuiet
    self.paint = paint
    self.now = now
    self.write = write
    self.later = later
  }

  /// Reports progress. A label other than the previous one begins a new task.
  package func show(_ label: String, done: Int, total: Int?) {
    guard !isQuiet() else { return }
    state.withLock { state in
      let instant = now()
      if state.label != label { (state.label, state.began) = (label, instant) }
      let progress = ProgressState(label.shown(), done: done, total: total, elapsed: instant - state.began)
      state.current = progress
      let waited = state.wait != nil
      state.wait = nil
      if width != nil {
        // Ten redraws a second are enough for a reader and for a slow terminal.
        if !waited, let drawn = state.drawn, instant - drawn.instant < .milliseconds(100) { return }
        draw(progress, at: instant, in: &state)
      } else if state.pace.isDue(progress, at: instant) {
        draw(progress, at: instant, in: &state)
      }
    }
  }

  /// Reports a pause and its reason.
  ///
  /// A terminal shows the time that is left, second by second, until the next progress. A log gets
  /// one line.
  package func wait(_ label: String, _ reason: String, for pause: Duration) {
    guard !isQuiet() else { return }
    guard width != nil else { return say("\(label): \(reason) in \(pause.roughly).") }
    let number = state.withLock { state in
      state.waits += 1
      state.wait = Wait(label: label.shown(), reason: reason.shown(), end: now() + pause, number: state.waits)
      return state.waits
    }
    count(number)
  }

  /// Redraws a pause each second, as long as it is the current one.
  private func count(_ number: Int) {
    let goesOn = state.withLock { state in
      guard let wait = state.wait, wait.number == number, let width else { return false }
      let left = max(.zero, wait.end - now())
      let line = "\(wait.label)  \(wait.reason) in \(left.onAClock)"
      write(Self.clearLine + line.prefix(max(0, width() - 1)))
      state.isOnScreen = true
      return left > .zero
    }
    if goesOn { later { [weak self] in self?.count(number) } }
  }

  /// Writes a separate line, above the bar.
  ///
  /// - Parameter isWarning: Whether a person has to see the line, also with `--quiet`.
  package func say(_ line: String, isWarning: Bool = false) {
    guard isWarning || !isQuiet() else { return }
    state.withLock { state in
      let shown = isWarning ? paint(line.shown()) : line.shown()
      write((state.isOnScreen ? Self.clearLine : "") + shown + "\n")
      state.isOnScreen = false
      if width != nil, let drawn = state.drawn { draw(drawn.state, at: drawn.instant, in: &state) }
    }
  }

  /// Draws the last state unless it is drawn already, and leaves it there.
  package func finish() {
    state.withLock { state in
      if let current = state.current, state.drawn?.state != current {
        draw(current, at: now(), in: &state)
      }
      if state.isOnScreen { write("\n") }
      state = State(waits: state.waits)
    }
  }

  private static let clearLine = "\r\u{1B}[2K"

  private func draw(_ progress: ProgressState, at instant: Duration, in state: inout State) {
    if let width {
      write(Self.clearLine + progress.bar(width: width()))
      state.isOnScreen = true
    } else {
      write(progress.logLine + "\n")
    }
    state.drawn = (progress, instant)
  }
}
