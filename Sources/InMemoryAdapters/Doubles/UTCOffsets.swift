public import SyncModels
public import SyncPorts

/// A time zone as a table of the clocks' offsets from UTC.
public struct UTCOffsets: Hashable, Sendable {
  /// A period with one offset.
  private struct Span: Hashable {
    var start: Int64
    var offset: Int64
  }
  private static let day: Int64 = 86_400
  private let spans: [Span]

  /// Creates a zone with a constant offset.
  ///
  /// - Parameter offset: Seconds ahead of UTC.
  public init(_ offset: Int = 0) {
    self.init(offset, changes: [])
  }

  /// Creates a zone with a first offset and later changes of it.
  ///
  /// Changes occur at instants in seconds since 1970. Offsets are in seconds.
  public init(_ offset: Int, changes: [(at: Int64, offset: Int)]) {
    spans =
      [Span(start: .min, offset: Int64(offset))]
      + changes.sorted { $0.at < $1.at }.map { Span(start: $0.at, offset: Int64($0.offset)) }
  }

  /// Central European time in 2026.
  public static let berlin = UTCOffsets(3600, changes: [(1_774_746_000, 7200), (1_792_890_000, 3600)])
  /// North American Eastern time in 2026.
  public static let newYork = UTCOffsets(-18000, changes: [(1_772_953_200, -14400), (1_793_512_800, -18000)])

  /// The next instant, after a given one, with a time of day.
  ///
  /// If clocks skip the time on a day, it is the first instant after the gap. If clocks show it
  /// twice, it is the first occurrence.
  public func next(_ time: TimeOfDay, after instant: Timestamp) -> Timestamp {
    let seconds = instant.microseconds / 1_000_000
    let today = (seconds + offset(at: seconds)) / Self.day
    // Today's time may be past, and a change of the clocks may move the date. A few days are always
    // enough.
    for day in (today - 1)...(today + 2) {
      let shown = day * Self.day + Int64(time.hour * 3600 + time.minute * 60)
      let next = Timestamp(milliseconds: first(showing: shown) * 1000)
      if next > instant { return next }
    }
    return instant + .seconds(Self.day)
  }

  private func offset(at seconds: Int64) -> Int64 {
    spans.last { $0.start <= seconds }?.offset ?? 0
  }

  /// The first instant at which the clocks show a civil time, or have passed it.
  private func first(showing shown: Int64) -> Int64 {
    for (index, span) in spans.enumerated() {
      let end = index + 1 < spans.count ? spans[index + 1].start : .max
      let instant = shown - span.offset
      // An instant before the span means that the clocks skipped it.
      if instant < end { return max(instant, span.start) }
    }
    return shown
  }
}
