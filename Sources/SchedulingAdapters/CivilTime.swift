import Foundation
import SyncModels
import SyncPorts

/// Converts a time of day to instants in one time zone.
struct CivilTime: Sendable {
  let zone: TimeZone

  private static let day: Int64 = 86_400

  /// The next instant after another at which local time equals a time of day.
  ///
  /// In a gap it is the first instant after the gap, in a repeated hour the first of the two.
  func next(_ time: TimeOfDay, after instant: Timestamp) -> Timestamp {
    let now = Self.seconds(instant)
    let today = Self.floorDivided(now + offset(now), by: Self.day)
    let timeOfDay = Int64(time.hour) * 3600 + Int64(time.minute) * 60
    // Tomorrow's is always later. A zone that crosses the date line may skip or repeat a day.
    for day in today - 1...today + 2 {
      let shown = day * Self.day + timeOfDay
      let candidate = Timestamp(microseconds: 0) + .seconds(firstInstant(showing: shown))
      if candidate > instant { return candidate }
    }
    return instant + .seconds(Self.day)
  }

  /// The first second at which local time reaches a value, or skips past it.
  ///
  /// Local times are counted as if they were in UTC.
  private func firstInstant(showing shown: Int64) -> Int64 {
    // No zone is further than a day from UTC, and none changes its offset twice in two days.
    let (before, after) = (offset(shown - Self.day), offset(shown + Self.day))
    let (early, late) = (shown - max(before, after), shown - min(before, after))
    for candidate in [early, late] where candidate + offset(candidate) == shown { return candidate }
    // Between the two, a change of the offset skips the value.
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
