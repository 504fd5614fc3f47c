import CanonicalSync
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
  }
  private let width: (@Sendable () -> Int)?
  private let now: @Sendable () -> Duration
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// Creates a bar on a stream, in the form that suits the stream.
  package convenience init(on stream: StandardStream = .error) {
    let start = ContinuousClock.now
    let width: @Sendable () -> Int = { stream.columns }
    self.init(
      width: stream.isTerminal ? width : nil, now: { start.duration(to: .now) },
      write: { stream.write($0) })
  }

  /// Creates a bar with its environment.
  ///
  /// The environment is the terminal's width (nil for a log), the time and the output.
  init(
    width: (@Sendable () -> Int)?, now: @escaping @Sendable () -> Duration,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.width = width
    self.now = now
    self.write = write
  }

  /// Reports progress. A label other than the previous one begins a new task.
  package func show(_ label: String, done: Int, total: Int?) {
    state.withLock { state in
      let instant = now()
      if state.label != label { (state.label, state.began) = (label, instant) }
      let progress = ProgressState(label.shown(), done: done, total: total, elapsed: instant - state.began)
      state.current = progress
      if width != nil {
        // Ten redraws a second are enough for a reader and for a slow terminal.
        if let drawn = state.drawn, instant - drawn.instant < .milliseconds(100) { return }
        draw(progress, at: instant, in: &state)
      } else if state.pace.isDue(progress, at: instant) {
        draw(progress, at: instant, in: &state)
      }
    }
  }

  /// Writes a separate line, above the bar.
  package func say(_ line: String) {
    state.withLock { state in
      write((state.isOnScreen ? Self.clearLine : "") + line.shown() + "\n")
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
      state = State()
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
