import CanonicalSync
import Foundation
import SyncCore
import Testing

@testable import CanonicalSyncToolSupport

@Suite("Printed results")
struct ToolSupportOutputTests {
  @Test func standInAlignedColumnsNumbersToTheRight() {
    let table = TextTable(
      ["type", "fetched", "état"],
      rows: [
        [.text("games"), .number(5_244), .text("déjà vu")], [.text("teams"), .number(124), .empty],
        [.text("a longer name"), .empty],
      ],
      footer: [.text("total"), .number(1_005_368)])
    #expect(
      table.description == """
        type             fetched  état
        ─────────────  ─────────  ───────
        games              5,244  déjà vu
        teams                124
        a longer name
        ─────────────  ─────────  ───────
        total          1,005,368
        """)
  }

  @Test func leaveOutEmptyColumnsAndBecomeBlocksWhereTheyAreTooWide() {
    let table = TextTable(
      ["type", "live", "failures", "error"],
      rows: [["games", 5_244, .empty, "quotaExceeded"], ["teams", 0, .empty, .empty]]
    ).withoutEmptyColumns
    #expect(table.headings == ["type", "live", "error"])
    #expect(table.text(fitting: nil) == table.description)
    #expect(table.text(fitting: 27) == table.description)
    #expect(
      table.text(fitting: 26) == """
        games
          live   5,244
          error  quotaExceeded

        teams
          live   0
        """)
  }

  @Test func nameTheNumberThatABlockBeginsWith() {
    let table = TextTable(["sync", "outcome"], rows: [[4, "finished"]])
    #expect(table.text(fitting: 8) == "sync 4\n  outcome  finished")
  }

  @Test func ofNoRowsAreAHeading() {
    #expect(TextTable(["a", "bc"]).description == "a  bc\n─  ──")
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (-1000, "-1,000"), (-999, "-999"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func haveCommasBetweenThousands(_ number: Int, _ text: String) {
    #expect(number.grouped == text)
  }

  @Test func asJSONKeepTheirOrder() {
    let json: JSON = [
      "z": 1, "a": 2.5, "whole": .double(3), "nothing": nil, "lost": .double(.infinity), "yes": true,
      "text": "say \"é\"\n\u{1}", "list": [1, [], [:]], "inner": ["b": "\\"],
    ]
    #expect(
      json.compact
        == #"{"z":1,"a":2.5,"whole":3.0,"nothing":null,"lost":null,"yes":true,"#
        + #""text":"say \"é\"\n\u0001","list":[1,[],{}],"inner":{"b":"\\"}}"#)
  }

  @Test func goOutInOrderGatheredUntilTheyAreMany() throws {
    let pipe = Pipe()
    let stream = StandardStream(descriptor: pipe.fileHandleForWriting.fileDescriptor, gathering: 4)
    stream.write("ab")
    stream.line("cde")
    #expect(pipe.fileHandleForReading.availableData == Data("abcde\n".utf8))
    stream.write("f")
    stream.flush()
    #expect(pipe.fileHandleForReading.availableData == Data("f".utf8))
    #expect(stream.failure == nil)
    #expect(!stream.isTerminal)
    #expect(stream.columns == 80)
  }

  @Test func waitForAReaderThatIsSlowerThanTheyAre() async throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    // As with a terminal or pipe that another process made non-blocking.
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    let reading = Task.detached { try pipe.fileHandleForReading.readToEnd() }
    let stream = StandardStream(descriptor: descriptor, gathering: 1 << 16)
    let line = String(repeating: "x", count: 99)
    for _ in 0..<20_000 { stream.line(line) }
    stream.flush()
    #expect(stream.failure == nil)
    try pipe.fileHandleForWriting.close()
    #expect(try await reading.value?.count == 2_000_000)
  }

  @Test func ofALogGoOnAfterALoss() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let kept = dup(descriptor)
    let stream = StandardStream(descriptor: descriptor, gathering: 0, ifLost: .goesOn)
    // For a while the descriptor is read-only.
    let none = open("/dev/null", O_RDONLY)
    dup2(none, descriptor)
    stream.line("lost")
    stream.line("lost too")
    dup2(kept, descriptor)
    stream.line("back")
    stream.line("and on")
    close(kept)
    close(none)
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(text == "\n(2 lines could not be written here.)\nback\nand on\n")
  }

  @Test func showControlCharactersToAPersonAndNoneToATerminal() throws {
    let name = "a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}b\nc"
    #expect(name.shown() == #"a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}b\u{a}c"#)
    #expect("Grüße 日本".shown() == "Grüße 日本")
    let pipe = Pipe()
    let stream = StandardStream(descriptor: pipe.fileHandleForWriting.fileDescriptor, gathering: 0)
    stream.line("plain \u{1b}[2J\nnext")
    stream.line(["id": .string("\u{9b}")] as JSON)
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(text == "plain \\u{1b}[2J\nnext\n{\"id\":\"\u{9b}\"}\n")
    let table = TextTable(["record"], rows: [[.text("x\u{1b}[31m\ny")]])
    #expect(table.description.hasSuffix(#"x\u{1b}[31m\u{a}y"#))
  }

  @Test func thatCantBeWrittenAreAFailureWithAReason() {
    let stream = StandardStream(descriptor: -1, gathering: 0)
    stream.write("lost")
    #expect(stream.failure?.isEmpty == false)
  }
}
