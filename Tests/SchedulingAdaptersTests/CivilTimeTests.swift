import Foundation
import SyncModels
import SyncPorts
import Testing

@testable import SchedulingAdapters

@Suite("Civil time")
struct CivilTimeTests {
  static func instant(_ text: String) throws -> Timestamp {
    let date = try Date(text, strategy: .iso8601)
    return Timestamp(milliseconds: Int64(date.timeIntervalSince1970) * 1000)
  }

  static func text(_ instant: Timestamp) -> String {
    Date(timeIntervalSince1970: Double(instant.microseconds / 1_000_000)).formatted(.iso8601)
  }

  /// A zone, a time of day, a start instant, and the expected instant.
  static let table: [(String, TimeOfDay, String, String)] = [
    // Ordinary days, and the start instant itself, which is not later than itself.
    ("Europe/Berlin", TimeOfDay(hour: 2), "2026-01-15T00:59:59Z", "2026-01-15T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2026-01-15T01:00:00Z", "2026-01-16T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2026-07-15T12:00:00Z", "2026-07-16T00:00:00Z"),
    ("UTC", TimeOfDay(hour: 0), "2026-07-15T00:00:00Z", "2026-07-16T00:00:00Z"),
    ("Asia/Kathmandu", TimeOfDay(hour: 2), "2026-01-01T00:00:00Z", "2026-01-01T20:15:00Z"),
    // Berlin puts its clocks forward from 02:00 to 03:00 …
    ("Europe/Berlin", TimeOfDay(hour: 2), "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2, minute: 30), "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2, minute: 30), "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 3), "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 1, minute: 59), "2026-03-28T12:00:00Z", "2026-03-29T00:59:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"),
    // … and back from 03:00 to 02:00.
    ("Europe/Berlin", TimeOfDay(hour: 2), "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2, minute: 30), "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
    // The time does not repeat in the same night.
    ("Europe/Berlin", TimeOfDay(hour: 2, minute: 30), "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 3), "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2027-10-30T12:00:00Z", "2027-10-31T00:00:00Z"),
    ("Europe/Berlin", TimeOfDay(hour: 2), "2027-10-31T00:00:00Z", "2027-11-01T01:00:00Z"),
    // New York puts its clocks forward from 02:00 to 03:00 …
    ("America/New_York", TimeOfDay(hour: 2), "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 2, minute: 59), "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 2), "2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 2), "2027-03-13T12:00:00Z", "2027-03-14T07:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 2), "2027-03-14T07:00:00Z", "2027-03-15T06:00:00Z"),
    // … and back from 02:00 to 01:00, so that 02:00 occurs once.
    ("America/New_York", TimeOfDay(hour: 2), "2026-10-31T12:00:00Z", "2026-11-01T07:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 1), "2026-10-31T12:00:00Z", "2026-11-01T05:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 1, minute: 30), "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"),
    ("America/New_York", TimeOfDay(hour: 2), "2027-11-06T12:00:00Z", "2027-11-07T07:00:00Z"),
    ("America/New_York", TimeOfDay(hour: 2), "2027-11-07T07:00:00Z", "2027-11-08T07:00:00Z"),
    // A change of half an hour, and a day whose midnight is skipped.
    ("Australia/Lord_Howe", TimeOfDay(hour: 2), "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"),
    ("Africa/Cairo", TimeOfDay(hour: 0), "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z"),
  ]

  @Test(arguments: table.indices)
  func showsATimeNextAt(_ index: Int) throws {
    let (name, time, asked, answer) = Self.table[index]
    let civil = CivilTime(zone: try #require(TimeZone(identifier: name)))
    let next = civil.next(time, after: try Self.instant(asked))
    #expect(Self.text(next) == answer, "\(name) \(time) after \(asked)")
  }

  @Test(arguments: ["Europe/Berlin", "America/New_York"], [2026, 2027])
  func showsEachTimeOnceADay(_ name: String, _ year: Int) throws {
    let civil = CivilTime(zone: try #require(TimeZone(identifier: name)))
    let end = try Self.instant("\(year + 1)-01-01T12:00:00Z")
    for time in [TimeOfDay(hour: 1, minute: 30), TimeOfDay(hour: 2), TimeOfDay(hour: 2, minute: 30)] {
      var now = try Self.instant("\(year)-01-01T12:00:00Z")
      var count = 0
      while now < end {
        let next = civil.next(time, after: now)
        #expect(next > now)
        #expect((22...26).contains(next.duration(since: now) / .seconds(3600)) || count == 0)
        now = next
        count += 1
      }
      #expect(count == 366)
    }
  }

  @Test(arguments: [Int64.min, Int64.min + 1, -1, 0, Int64.max - 1, Int64.max])
  func endsWhereTimeDoes(_ microseconds: Int64) throws {
    let civil = CivilTime(zone: try #require(TimeZone(identifier: "Europe/Berlin")))
    let now = Timestamp(microseconds: microseconds)
    #expect(civil.next(TimeOfDay(hour: 2), after: now) >= now)
  }
}
