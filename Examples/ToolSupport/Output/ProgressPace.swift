/// Decides when to log another line of progress.
///
/// A long run has a short log. Two lines are at least a second apart. After that, a line is due for
/// a new task, for another tenth of it, or after a while without a line. Without a known total,
/// that while doubles from line to line, up to half a minute.
struct ProgressPace {
  private var last: (label: String, tenth: Int?, instant: Duration)?
  private var silence = Duration.seconds(1)
  private static let longestSilence = Duration.seconds(30)

  /// Whether a line is due. If so, it counts as written.
  mutating func isDue(_ state: ProgressState, at instant: Duration) -> Bool {
    let tenth = state.fraction.map { Int($0 * 10) }
    let isNew = last?.label != state.label
    if let last {
      let wait = instant - last.instant
      guard wait >= .seconds(1), isNew || tenth != last.tenth || wait >= silence else { return false }
    }
    silence = tenth != nil ? Self.longestSilence : isNew ? .seconds(1) : min(silence * 2, Self.longestSilence)
    last = (state.label, tenth, instant)
    return true
  }
}
