/// Decides when progress is worth another line in a log, so that a long run leaves a short one.
///
/// Never two lines within a second. After that: for something new, for another tenth of it, or when nothing was said for
/// a while; where no total is known, that while doubles from line to line, up to half a minute.
struct ProgressPace {
  private var last: (label: String, tenth: Int?, instant: Duration)?
  private var silence = Duration.seconds(1)
  private static let longestSilence = Duration.seconds(30)

  /// Tells whether a line is due, and counts it as written if so.
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
