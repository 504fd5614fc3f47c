import Foundation
import Testing

@testable import ToolSupport

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

  @Test func thatCantBeWrittenAreAFailureWithAReason() {
    let stream = StandardStream(descriptor: -1, gathering: 0)
    stream.write("lost")
    #expect(stream.failure?.isEmpty == false)
  }
}
