import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("The clock of local edits")
struct HybridClockTests {
  private func time(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: microseconds) }

  @Test func stampsEveryEditAfterTheOneBefore() {
    var clock = HybridClock(replica: "a")
    var last: EditStamp?
    // A day ahead and back again, standing still, and the maximum time.
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

  @Test func neverRepeatsAStampWhenACounterIsUsedUp() {
    var clock = HybridClock(replica: "me")
    let now = time(1000)
    var given: [EditStamp] = []
    for counter in [5, .max - 1, 5, .max, .max, 0] as [UInt32] {
      given.append(clock.stamp(at: now, after: EditStamp(physical: now, counter: counter, replica: "x")))
    }
    #expect(given == given.sorted() && Set(given).count == given.count)
  }

  /// A wall clock that jumps in both directions, and copies from wrong clocks.
  @Test func followsNothingThatIsTooFarAheadAndRepeatsNothingAllTheSame() {
    var clock = HybridClock(replica: "a")
    var given: Set<EditStamp> = []
    let bound = Duration.microseconds(100)
    let nows: [Int64] = [0, 5000, 5000, 10, 11, 11, 4999, 5000, 5000, 5000, 12, 9000, 5000, 5000]
    let copies: [Int64?] = [nil, 5000, 5050, 700, nil, .max - 5]
    for now in nows {
      for copy in copies {
        let seen = copy.map { EditStamp(physical: time($0), counter: 2, replica: "z") }
        let stamp = clock.stamp(at: time(now), after: seen, bound: bound)
        #expect(given.insert(stamp).inserted, "\(stamp) comes twice")
        if let seen { #expect(stamp > seen) }
        #expect(clock.last.physical <= time(now) + bound)
        if copy == nil { #expect(stamp.physical <= time(now) + bound) }
      }
    }
  }

  @Test func goesOnFromWhatWasKept() throws {
    let kept = #"{"last":{"physical":500,"counter":3,"replica":"a"}}"#
    var clock = try HybridClock(json: Array(kept.utf8))
    #expect(clock.stamp(at: time(500)) == EditStamp(physical: time(500), counter: 4, replica: "a"))
    #expect(try HybridClock(json: clock.json) == clock)
  }

  @Test(arguments: ["", #","ahead":-7"#, #","counter":4294967295"#, #","ahead":1,"counter":0"#])
  func isWrittenAsItWasRead(_ rest: String) throws {
    let text = #"{"last":{"physical":-5,"counter":3,"replica":"a \"b\"\u0001"}\#(rest)}"#
    #expect(try HybridClock(json: Array(text.utf8)).json == Array(text.utf8))
  }

  @Test(arguments: [
    (#""counter":3,"#, ""), (#""counter":3"#, #""counter":-1"#), (#""counter":3"#, #""counter":4294967296"#),
    (#""physical":500"#, #""physical":500.5"#), (#""replica":"a""#, #""replica":1"#),
    (#"{"last":"#, #"{"ahead":null,"last":"#), ("}}", "}"),
  ])
  func isRefusedWithAnotherForm(_ before: String, _ after: String) {
    let kept = #"{"last":{"physical":500,"counter":3,"replica":"a"}}"#.replacing(before, with: after)
    #expect(throws: StoredFormError.self) { try HybridClock(json: Array(kept.utf8)) }
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
