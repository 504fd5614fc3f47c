import Testing

@testable import SyncModels

@Suite("The clock of local edits")
struct HybridClockTests {
  private func time(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: microseconds) }

  @Test func stampsEveryEditAfterTheOneBefore() {
    var clock = HybridClock(replica: "a")
    var last: EditStamp?
    // A day ahead and back again, standing still, and the end of time.
    for now in [100, 100, 101, 86_400_000_000, 100, 100, 0, -7, .max, .max, 5] as [Int64] {
      let stamp = clock.stamp(at: time(now))
      if let last { #expect(stamp > last) }
      last = stamp
    }
  }

  @Test func stampsAnEditAfterTheCopyThatItIsMadeOn() {
    var clock = HybridClock(replica: "a")
    let seen = EditStamp(physical: time(500), counter: 3, replica: "z")
    #expect(clock.stamp(at: time(10), after: seen) > seen)
    #expect(clock.stamp(at: time(20)) > seen)
  }

  @Test func borrowsTimeWhenTheCounterIsUsedUp() {
    var clock = HybridClock(replica: "a")
    let seen = EditStamp(physical: time(500), counter: .max, replica: "z")
    let stamp = clock.stamp(at: time(10), after: seen)
    #expect(stamp > seen)
    #expect(clock.stamp(at: time(10)) > stamp)
  }

  @Test(arguments: [
    EditStamp(physical: Timestamp(microseconds: -1), counter: 7, replica: "a@b.c"),
    EditStamp(physical: Timestamp(microseconds: .max), counter: .max, replica: ""),
    EditStamp(physical: Timestamp(microseconds: 0)),
  ])
  func stampsAreReadBackAsTheyWereWritten(_ stamp: EditStamp) {
    #expect(EditStamp(stamp.description) == stamp)
  }

  @Test(arguments: ["", "x", "1.", "1.2.3@a", "1.-2@a", "@a", "99999999999999999999"])
  func whatIsNoStampIsNotRead(_ text: String) {
    #expect(EditStamp(text) == nil)
  }
}
