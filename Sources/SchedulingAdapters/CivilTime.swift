import Foundation
import SyncModels
import SyncPorts

/// When the clock on the wall shows a time, in one time zone.
struct CivilTime: Sendable {
  let zone: TimeZone

  private static let day: Int64 = 86_400

  /// The next instant, later than another, at which a clock on the wall shows a time.
  ///
  /// In a gap it is the first instant after it, in a repeated hour the first of the two.
  func next(_ time: TimeOfDay, after instant: Timestamp) -> Timestamp {
    let now = Self.seconds(instant)
    let today = Self.floorDivided(now + offset(now), by: Self.day)
    let timeOfDay = Int64(time.hour) * 3600 + Int64(time.minute) * 60
    // Tomorrow's is always later; a day may be left out or come twice where a zone changes sides of the date line.
    for day in today - 1...today + 2 {
      let shown = day * Self.day + timeOfDay
      let candidate = Timestamp(microseconds: 0) + .seconds(firstInstant(showing: shown))
      if candidate > instant { return candidate }
    }
    return instant + .seconds(Self.day)
  }

  /// The first second at which the clock shows a time, or a later one where it never does.
  ///
  /// Times shown are counted as if they were universal ones.
  private func firstInstant(showing shown: Int64) -> Int64 {
    // No zone is further than a day from the universal time, and none changes its clocks twice in two days.
    let (before, after) = (offset(shown - Self.day), offset(shown + Self.day))
    let (early, late) = (shown - max(before, after), shown - min(before, after))
    for candidate in [early, late] where candidate + offset(candidate) == shown { return candidate }
    // Between the two the clocks are put forward, over the time that is looked for.
    var (low, high) = (early, late)
    while low < high {
      let middle = low + (high - low) / 2
      if middle + offset(middle) < shown { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func offset(_ seconds: Int64) -> Int64 {
    Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
  }

  private static func seconds(_ instant: Timestamp) -> Int64 {
    floorDivided(instant.microseconds, by: 1_000_000)
  }

  private static func floorDivided(_ number: Int64, by divisor: Int64) -> Int64 {
    let quotient = number / divisor
    return number % divisor < 0 ? quotient - 1 : quotient
  }
}
