import CanonicalSync
import Foundation
import InMemoryAdapters
import Testing

@Suite("A table of UTC offsets")
struct UTCOffsetsTests {
  static let zones: [(UTCOffsets, String)] = [
    (.berlin, "Europe/Berlin"), (.newYork, "America/New_York"), (UTCOffsets(), "UTC"),
    (UTCOffsets(20700), "Asia/Kathmandu"),
  ]

  /// Instants over the tables' whole year, and close to the changes of the clocks.
  static let moments: [Int64] =
    Array(stride(from: 1_767_312_000, to: 1_798_700_000, by: 31 * 3600))
    + [1_774_746_000, 1_792_890_000, 1_772_953_200, 1_793_512_800].flatMap {
      stride(from: $0 - 100_000, to: $0 + 100_000, by: 1100)
    }

  @Test(arguments: zones, [(1, 0), (1, 30), (2, 0), (2, 30), (3, 0), (0, 0), (23, 59)])
  func agreesWithTheCalendar(
    _ zone: (table: UTCOffsets, name: String), _ time: (hour: Int, minute: Int)
  ) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone.name))
    var disagreements: [Int64] = []
    for second in Self.moments {
      let moment = Date(timeIntervalSince1970: Double(second))
      // During an ambiguous time, the calendar skips to its second occurrence.
      let change = calendar.timeZone.nextDaylightSavingTimeTransition(after: moment - 3600)
      if let change, change <= moment + 3600 { continue }
      let next = calendar.nextDate(
        after: moment, matching: DateComponents(hour: time.hour, minute: time.minute, second: 0),
        matchingPolicy: .nextTime, repeatedTimePolicy: .first)
      let ours = zone.table.next(
        TimeOfDay(hour: time.hour, minute: time.minute), after: Timestamp(milliseconds: second * 1000))
      if next.map({ Int64($0.timeIntervalSince1970) * 1_000_000 }) != ours.microseconds {
        disagreements.append(second)
      }
    }
    #expect(disagreements.isEmpty)
  }

  @Test func letsTheSecondOfTwoEqualTimesPass() {
    let first = Timestamp(milliseconds: (1_792_890_000 - 3600) * 1000)
    let two = TimeOfDay(hour: 2)
    #expect(UTCOffsets.berlin.next(two, after: first - .seconds(1)) == first)
    // From the first of them on, the next one is tomorrow's, 25 hours later.
    for minutes in [0, 1, 59, 60, 61] {
      #expect(
        UTCOffsets.berlin.next(two, after: first + .seconds(minutes * 60)) == first + .seconds(25 * 3600))
    }
  }

  @Test func isAlwaysLaterThanTheMomentItself() {
    let two = TimeOfDay(hour: 2)
    let first = UTCOffsets.berlin.next(two, after: Timestamp(milliseconds: 0))
    #expect(UTCOffsets.berlin.next(two, after: first) == first + .seconds(86_400))
    #expect(UTCOffsets.berlin.next(two, after: first - .microseconds(1)) == first)
  }
}
