import Synchronization
import Testing

@testable import CanonicalSyncToolSupport

@Suite("Progress")
struct ToolSupportProgressTests {
  static func state(_ done: Int, of total: Int?, after seconds: Double) -> ProgressState {
    ProgressState("games", done: done, total: total, elapsed: .seconds(seconds))
  }

  @Test(arguments: [
    (200, "games [####################....................]  50% 2,622/5,244  1,311/s  0:02 left"),
    (70, "games [############............]  50% 2,622/5,244  1,311/s  0:02 left"),
    (50, "games  50% 2,622/5,244  1,311/s  0:02 left"), (30, "games  50% 2,622/5,244"), (10, "games  50"),
    (0, ""),
  ])
  func fillsTheWidthItHasAndNeverTheLastColumn(_ width: Int, _ line: String) {
    #expect(Self.state(2_622, of: 5_244, after: 2).bar(width: width) == line)
  }

  @Test(arguments: [
    (state(1_234, of: nil, after: 2), "games: 1,234, 617/s"), (state(0, of: nil, after: 0), "games: 0"),
    (state(0, of: 10, after: 5), "games: 0 of 10 (0 %)"),
    (state(1, of: 4, after: 10), "games: 1 of 4 (25 %), 0.1/s, 0:30 left"),
    (state(999, of: 1000, after: 1), "games: 999 of 1,000 (99 %), 999/s, 0:00 left"),
    (state(12, of: 10, after: 1), "games: 12 of 10 (100 %), 12/s, 0:00 left"),
    (state(0, of: 0, after: 1), "games: 0 of 0 (100 %)"),
  ])
  func readsAsALineInALog(_ state: ProgressState, _ line: String) {
    #expect(state.logLine == line)
  }

  @Test(arguments: [Int.max, .min])
  func hasRoomForAnyTotal(_ total: Int) {
    for done in [0, 1, Int.max] {
      let state = Self.state(done, of: total, after: 1e6)
      #expect(state.bar(width: 60).count < 60 && !state.logLine.isEmpty)
    }
  }

  @Test(arguments: [(0.4, "0:00"), (7, "0:07"), (754, "12:34"), (3723, "1:02:03"), (-5, "0:00")])
  func tellsTimeAsAClockDoes(_ seconds: Double, _ text: String) {
    #expect(Duration.seconds(seconds).onAClock == text)
  }

  @Test func ofAFastRunIsOneLineAndItsLast() {
    let screen = Screen(width: nil)
    for done in 1...1000 {
      screen.time = .milliseconds(done / 2)
      screen.bar.show("games", done: done, total: 1000)
    }
    screen.bar.finish()
    #expect(screen.text == "games: 1 of 1,000 (0 %)\ngames: 1,000 of 1,000 (100 %), 2,000/s, 0:00 left\n")
  }

  @Test func ofASlowRunIsALineForEachTenth() {
    let screen = Screen(width: nil)
    for done in 0...1000 {
      screen.time = .milliseconds(done * 90)
      screen.bar.show("games", done: done, total: 1000)
    }
    screen.bar.finish()
    #expect(screen.text.split(separator: "\n").count == 11)
  }

  @Test func withoutATotalSpeaksEverMoreRarely() {
    let screen = Screen(width: nil)
    for second in 0..<120 {
      screen.time = .seconds(second)
      screen.bar.show("games", done: second, total: nil)
    }
    let dones = screen.text.split(separator: "\n").map { $0.split(separator: " ")[1].prefix { $0 != "," } }
    #expect(
      dones == ["0", "1", "3", "7", "15", "25", "35", "45", "55", "65", "75", "85", "95", "105", "115"])
  }

  @Test func redrawsOneLineOfATerminalTenTimesASecondAtMost() {
    let screen = Screen(width: 20)
    for tick in 0...20 {
      screen.time = .milliseconds(tick * 10)
      screen.bar.show("a", done: tick, total: 20)
    }
    screen.bar.say("careful")
    screen.bar.finish()
    screen.bar.finish()
    let clear = "\r\u{1B}[2K"
    #expect(
      screen.text == clear + "a   0% 0/20" + clear + "a  50% 10/20" + clear + "a 100% 20/20" + clear
        + "careful\n" + clear + "a 100% 20/20\n")
  }

  @Test func ofAVerySlowRunIsALineEveryTenSeconds() {
    let screen = Screen(width: nil)
    for second in 0...60 {
      screen.time = .seconds(second)
      screen.bar.show("games", done: second, total: 1_000_000)
    }
    #expect(screen.text.split(separator: "\n").count == 7)
  }

  @Test func ofAPauseCountsDownOnATerminalUntilTheNextProgress() {
    let screen = Screen(width: 60)
    screen.bar.show("games", done: 1, total: nil)
    screen.bar.wait("games", "remoteUnavailable; attempt 2", for: .seconds(3))
    for second in 1...2 {
      screen.time = .seconds(second)
      screen.tick()
    }
    let clear = "\r\u{1B}[2K"
    let waits = ["0:03", "0:02", "0:01"].map { "\(clear)games  remoteUnavailable; attempt 2 in \($0)" }
    #expect(screen.text == clear + "games 1" + waits.joined())
    screen.bar.show("games", done: 2, total: nil)
    let after = screen.text
    #expect(after.hasSuffix("\(clear)games 2  1.0/s"))
    screen.tick()
    #expect(screen.text == after, "the pause is over")
  }

  @Test func ofAPauseIsOneLineOfALog() {
    let screen = Screen(width: nil)
    screen.bar.wait("games", "remoteUnavailable; attempt 2", for: .milliseconds(1500))
    screen.tick()
    #expect(screen.text == "games: remoteUnavailable; attempt 2 in 1 s.\n")
  }

  @Test(arguments: [nil, 60])
  func isLeftOutWhenQuietIsWantedAndWarningsAreNot(_ width: Int?) {
    let screen = Screen(width: width, isQuiet: true)
    screen.bar.show("games", done: 1, total: 2)
    screen.bar.wait("games", "remoteUnavailable; attempt 2", for: .seconds(3))
    screen.bar.say("a notice")
    screen.bar.say("a warning", isWarning: true)
    screen.bar.finish()
    #expect(screen.text == "<a warning>\n")
  }

  @Test(arguments: [
    ([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
    (["TERM": "xterm-256color"], true),
  ])
  func isColouredUnlessTheEnvironmentForbidsIt(_ environment: [String: String], _ isWanted: Bool) {
    #expect(Ink.isWanted(in: environment) == isWanted)
  }

  @Test(arguments: [
    (0.44, "0.4 s"), (1.9, "1 s"), (59.9, "59 s"), (60, "1 min"), (7300, "2 h"), (90_000, "1 d"),
    (-3, "0.0 s"),
  ])
  func tellsAgesInOneUnit(_ seconds: Double, _ text: String) {
    #expect(Duration.seconds(seconds).roughly == text)
  }

  @Test func beginsItsClockAnewWithEachLabel() {
    let screen = Screen(width: nil)
    screen.bar.show("teams", done: 5, total: 10)
    screen.time = .seconds(10)
    screen.bar.show("games", done: 0, total: 10)
    screen.time = .seconds(11)
    screen.bar.show("games", done: 5, total: 10)
    #expect(screen.text.hasSuffix("games: 5 of 10 (50 %), 5.0/s, 0:01 left\n"))
  }

  /// A progress bar, its output, and a manual time.
  struct Screen {
    private final class Memory: Sendable {
      let text = Mutex("")
      let time = Mutex(Duration.zero)
      let later = Mutex<[@Sendable () -> Void]>([])
    }
    private let memory: Memory
    let bar: ProgressBar

    init(width: Int?, isQuiet: Bool = false) {
      let memory = Memory()
      let columns: (@Sendable () -> Int)? = if let width { { width } } else { nil }
      self.memory = memory
      bar = ProgressBar(
        width: columns, isQuiet: { isQuiet }, paint: { isQuiet ? "<\($0)>" : $0 },
        now: { memory.time.withLock { $0 } }, write: { text in memory.text.withLock { $0 += text } },
        later: { work in memory.later.withLock { $0.append(work) } })
    }

    /// Lets a second pass for the bar.
    func tick() {
      let due = memory.later.withLock { later in
        defer { later = [] }
        return later
      }
      for work in due { work() }
    }

    var text: String { memory.text.withLock { $0 } }
    var time: Duration {
      get { memory.time.withLock { $0 } }
      nonmutating set { memory.time.withLock { $0 = newValue } }
    }
  }
}
