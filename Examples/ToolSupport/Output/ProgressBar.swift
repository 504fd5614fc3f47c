import Synchronization

/// Shows progress on standard error: a line that redraws itself on a terminal, a few plain lines elsewhere.
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

  /// A bar on a stream, as what reads the stream would have it.
  package convenience init(on stream: StandardStream = .error) {
    let start = ContinuousClock.now
    let width: @Sendable () -> Int = { stream.columns }
    self.init(
      width: stream.isTerminal ? width : nil, now: { start.duration(to: .now) },
      write: { stream.write($0) })
  }

  /// A bar with its surroundings given: the terminal's width (nil for a log), the time, and where text goes.
  init(
    width: (@Sendable () -> Int)?, now: @escaping @Sendable () -> Duration,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.width = width
    self.now = now
    self.write = write
  }

  /// Says how far something has come; a label not shown just before begins something new.
  package func show(_ label: String, done: Int, total: Int?) {
    state.withLock { state in
      let instant = now()
      if state.label != label { (state.label, state.began) = (label, instant) }
      let progress = ProgressState(label.shown(), done: done, total: total, elapsed: instant - state.began)
      state.current = progress
      if width != nil {
        // The eye has enough with ten pictures a second, and a slow terminal does too.
        if let drawn = state.drawn, instant - drawn.instant < .milliseconds(100) { return }
        draw(progress, at: instant, in: &state)
      } else if state.pace.isDue(progress, at: instant) {
        draw(progress, at: instant, in: &state)
      }
    }
  }

  /// Writes a line of its own, above the bar.
  package func say(_ line: String) {
    state.withLock { state in
      write((state.isOnScreen ? Self.clearLine : "") + line.shown() + "\n")
      state.isOnScreen = false
      if width != nil, let drawn = state.drawn { draw(drawn.state, at: drawn.instant, in: &state) }
    }
  }

  /// Shows the last state if it was not shown yet, and leaves it standing.
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
