/// Decides when to log another line of progress.
///
/// Two lines are at least a second apart. After that, a line is due for a new task, for another
/// tenth of it, or after ten seconds without a line. Without a known total, a line is due after one
/// second, then two, four and so on, up to ten.
package struct ProgressPace: Sendable {
  private var last: (label: String, tenth: Int?, instant: Duration)?
  private var silence = Duration.seconds(1)
  private static let longestSilence = Duration.seconds(10)

  /// Creates the pace of a log without a line.
  package init() {}

  /// Whether a line is due. If so, it counts as written.
  package mutating func isDue(_ state: ProgressState, at instant: Duration) -> Bool {
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
